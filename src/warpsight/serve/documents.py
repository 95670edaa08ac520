"""Whole documents behind short results: full profiles, and results that were too long, as `warpsight://` addresses.

They are artefacts of the store, by the hash of their content. What must stay true: only these two kinds can be read,
though other things lie in the same store.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, cast

from pydantic import JsonValue, ValidationError

from warpsight.errors import UsageError
from warpsight.nouns import Profile
from warpsight.runs.artefacts import Artefacts

_ADDRESS = re.compile(r"warpsight://(profile|result)/([0-9a-f]{64})")
_RESULT_KEYS = {"tool", "result"}


class Documents:
    """The documents in a data folder."""

    def __init__(self, data: Path) -> None:
        self._artefacts = Artefacts(data / "artefacts")

    def put_profile(self, content: bytes) -> str:
        """Keep a full profile; its address."""
        return self._put("profile", content)

    def put_result(self, tool: str, data: dict[str, JsonValue]) -> str:
        """Keep the whole record of a result; its address."""
        return self._put("result", json.dumps({"tool": tool, "result": data}).encode())

    def read(self, address: str) -> str:
        """The JSON text at an address."""
        found = _ADDRESS.fullmatch(address)
        if found is None:
            raise UsageError(
                f"no document {address[:120]!r}", hint="an address that a tool gave: warpsight://profile/HASH"
            )
        content = self._artefacts.get(found[2])
        if not (_is_profile(content) if found[1] == "profile" else _is_result(content)):
            raise UsageError(f"expected a {found[1]} at {address}, it is something else")
        return content.decode("utf-8")

    def _put(self, kind: str, content: bytes) -> str:
        return f"warpsight://{kind}/{self._artefacts.put(content)}"


def _is_profile(content: bytes) -> bool:
    try:
        Profile.model_validate_json(content)
    except ValidationError:
        return False
    return True


def _is_result(content: bytes) -> bool:
    try:
        found: Any = json.loads(content)
    except ValueError:
        return False
    return isinstance(found, dict) and set(cast(dict[str, Any], found)) == _RESULT_KEYS
