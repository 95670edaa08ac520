"""From a name to a model: `anthropic:NAME`, `openai:NAME`, `responses:NAME`, `local[:PATH]`, `scripted:FILE.json`.

The path of a `.gguf` file, or of a folder with a `config.json`, means `local:PATH`. Other packages add kinds by entry
points `warpsight.models`: `KIND:REST`. A class that no package lists is named `package.module:Class`, or
`package.module:Class:REST`. It has a class method `open(rest, *, base_url, api_key_env, adapter)`.

Nothing is asked of a network here, and a client's packages are imported only when it is chosen. Keys come from the
environment; see `key.py` for which key goes where.
"""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import urlsplit

from warpsight.errors import UsageError
from warpsight.models.key import find_key
from warpsight.models.model import Model
from warpsight.models.prices import Prices, read_prices
from warpsight.models.retry import Patience
from warpsight.models.wire import Extra, WireFormat
from warpsight.plugins import Seam, is_place

OPENAI = ("https://api.openai.com/v1", "OPENAI_API_KEY")
ANTHROPIC = ("https://api.anthropic.com", "ANTHROPIC_API_KEY")
HOSTED = {"openai": OPENAI, "responses": OPENAI, "anthropic": ANTHROPIC}
FORMS = (
    "anthropic:NAME, openai:NAME, responses:NAME, local, local:PATH, FILE.gguf, scripted:FILE.json, scripted:demo,"
    " guided or package.module:Class"
)
KINDS = (*HOSTED, "local", "scripted", "guided")
MODELS = Seam("model", "warpsight.models")
PRICES = "WARPSIGHT_PRICES"  # the environment variable that names the price list


def open_model(
    name: str,
    *,
    base_url: str | None = None,
    api_key_env: str | None = None,
    adapter: Path | None = None,
    prices: Prices | None = None,
    patience: Patience | None = None,
    stream: bool = True,
    extra: Extra | None = None,
) -> Model:
    """The model of that name, ready to be asked. `extra` are fields to add to the body of every HTTP request."""
    path = weights_path(name)
    kind, _, rest = name.partition(":") if path is None else ("local", ":", str(path))
    if kind in HOSTED and rest:
        listed = read_prices(Path(os.environ[PRICES])) if prices is None and os.environ.get(PRICES) else prices
        return _hosted(kind, rest, base_url, api_key_env, listed, patience, stream, extra)
    if name == "guided":
        from warpsight.models.guided import open_guided

        return open_guided()
    if kind == "scripted" and rest:
        from warpsight.models.scripted import read_script, shipped_script

        return read_script(shipped_script(rest) or Path(rest))
    if kind == "local":
        from warpsight.models.local import embedded_weights, open_local

        return open_local(Path(rest) if rest else embedded_weights(), adapter=adapter)
    settings = {"base_url": base_url, "api_key_env": api_key_env, "adapter": adapter}
    if kind in MODELS.names():
        return MODELS.open(kind, rest, **settings)
    attribute, _, argument = rest.partition(":")
    if "." in kind and is_place(place := f"{kind}:{attribute}"):  # a word without a dot is a kind, misspelt
        return MODELS.open(place, argument, **settings)
    raise UsageError(f"expected a model as {FORMS}, got {name!r}", hint="warpsight optimize TASK --model local")


def weights_path(name: str) -> Path | None:
    """The path of weights that were given as such, with no kind before it."""
    if name.partition(":")[0] in KINDS:
        return None
    path = Path(name)
    return path if path.suffix == ".gguf" or (path / "config.json").is_file() else None


def _hosted(
    kind: str,
    name: str,
    base_url: str | None,
    api_key_env: str | None,
    prices: Prices | None,
    patience: Patience | None,
    stream: bool,
    extra: Extra | None,
) -> Model:
    from warpsight.models.http import HttpModel

    official_url, variable = HOSTED[kind]
    url = _checked_url(base_url or official_url)
    host = urlsplit(official_url).hostname or ""
    key = find_key(url, official_host=host, official_variable=variable, variable=api_key_env)
    if kind == "anthropic":
        url = url.removesuffix("/v1")  # the format's path begins with it
    wire = _format(kind, official=urlsplit(url).hostname == host, extra=extra)
    return HttpModel(name, wire, url, key, stream=stream, patience=patience, price=(prices or {}).get(name))


def _format(kind: str, *, official: bool, extra: Extra | None) -> WireFormat:
    if kind == "anthropic":
        from warpsight.models.anthropic_messages import MessagesFormat

        return MessagesFormat(extra=extra)
    if kind == "responses":
        from warpsight.models.openai_responses import ResponsesFormat

        return ResponsesFormat(extra=extra)
    from warpsight.models.openai_chat import ChatFormat

    return ChatFormat(limit_name="max_completion_tokens" if official else "max_tokens", extra=extra)


def _checked_url(url: str) -> str:
    """A base URL without a trailing slash; one with a key, a name or a query in it would end up in messages."""
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        good, parts = False, urlsplit("")
    if not good:
        raise UsageError(
            "expected a base URL such as http://127.0.0.1:8000/v1", hint="give it with http:// or https://"
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        raise UsageError(
            "expected a base URL without user, password, query or fragment", hint="put the key into the environment"
        )
    return url.rstrip("/")
