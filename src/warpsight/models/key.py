"""An API key: taken from the environment, put into one header, shown nowhere.

A provider's own variable (OPENAI_API_KEY, ANTHROPIC_API_KEY) is sent to that provider's own host only; any other base
URL gets WARPSIGHT_API_KEY or the variable that was named. What must stay true: the text of the key is in no repr, no
pickle, no error, no log and no transcript; `redact` is applied to whatever a server sends before we say it.
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from typing import NoReturn
from urllib.parse import urlsplit

from warpsight.errors import UsageError

OWN_VARIABLE = "WARPSIGHT_API_KEY"
# Shorter ones ("EMPTY", "none") are placeholders for servers that check none, and would be found in any text.
SECRET_LENGTH = 8


class ApiKey:
    """A secret with a name. The only way out is `reveal`, which the HTTP client calls when a request leaves."""

    __slots__ = ("_text", "variable")

    def __init__(self, variable: str, text: str) -> None:
        self.variable = variable
        self._text = text

    def reveal(self) -> str:
        return self._text

    def redact(self, text: str) -> str:
        return text.replace(self._text, f"[{self.variable}]") if self.is_secret else text

    def is_in(self, text: str) -> bool:
        return self.is_secret and self._text in text

    @property
    def is_secret(self) -> bool:
        return len(self._text) >= SECRET_LENGTH

    def __repr__(self) -> str:
        return f"<key from {self.variable}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key is not stored")


def find_key(
    base_url: str,
    *,
    official_host: str,
    official_variable: str,
    variable: str | None = None,
    environment: Mapping[str, str] = os.environ,
) -> ApiKey | None:
    """The key for this base URL, or None where a server may need none. UsageError when one is needed and not set."""
    official = urlsplit(base_url).hostname == official_host
    names = (variable,) if variable else (official_variable, OWN_VARIABLE) if official else (OWN_VARIABLE,)
    for name in names:
        text = environment.get(name, "").strip()
        if text:
            return _checked(ApiKey(name, text), base_url)
    if official or variable:
        raise UsageError(
            f"expected an API key in the environment variable {names[0]}, found none", hint=f"export {names[0]}=..."
        )
    return None


def _checked(key: ApiKey, base_url: str) -> ApiKey:
    if not key.reveal().isascii() or not key.reveal().isprintable():
        raise UsageError(
            f"{key.variable} holds characters that no API key has", hint="check for a line break or quotes"
        )
    parts = urlsplit(base_url)
    if parts.scheme != "https" and not is_near(parts.hostname or ""):
        raise UsageError(
            f"the key in {key.variable} would travel unencrypted to {parts.hostname}", hint="use an https:// base URL"
        )
    return key


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_near(host: str) -> bool:
    """Whether a host is this machine or has an address of a private network."""
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return host == "localhost"
