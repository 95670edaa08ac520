"""The compile options a candidate may set: one allow-list, refused by name otherwise.

Options that read or write files, change the language of diagnostics or reach the driver are absent on purpose.
What must stay true: the same meaning is always spelled the same way here, because the cache key is made of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from warpsight.errors import UsageError

MAX_OPTIONS = 32
DEFAULT_STD = "--std=c++17"

# The part before "=" as NVRTC spells it, and what may stand after it. None: the option takes no value.
ALLOWED: dict[str, str | None] = {
    "--use_fast_math": None,
    "--extra-device-vectorization": None,
    "--device-as-default-execution-space": None,
    "--restrict": None,
    "--fmad": r"true|false",
    "--ftz": r"true|false",
    "--prec-div": r"true|false",
    "--prec-sqrt": r"true|false",
    "--std": r"c\+\+(17|20)",
    "--maxrregcount": r"[1-9][0-9]{0,2}",
}
ALIASES = {"--default-device": "--device-as-default-execution-space"}
DEFINE = re.compile(r"-D(?P<name>[A-Za-z_][A-Za-z0-9_]{0,63})(=(?P<value>[^\x00-\x1f\x7f]{0,200}))?")


def checked_options(options: Sequence[str]) -> tuple[str, ...]:
    """The options in their one spelling, or UsageError that names the first one that is not allowed."""
    if len(options) > MAX_OPTIONS:
        raise UsageError(f"expected at most {MAX_OPTIONS} compile options, got {len(options)}")
    checked = tuple(_checked(option) for option in options)
    names = [_name(option) for option in checked]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"expected {name} once, it came {names.count(name)} times", hint="keep one of them")
    return checked


def with_defaults(options: Sequence[str]) -> tuple[str, ...]:
    """Checked options plus the language version, when none was asked for."""
    return tuple(options) if any(o.startswith("--std=") for o in options) else (DEFAULT_STD, *options)


def _name(option: str) -> str:
    return option.partition("=")[0]


def _checked(option: str) -> str:
    if option.startswith("-D"):
        if DEFINE.fullmatch(option):
            return option
        raise UsageError(f"expected -DNAME or -DNAME=VALUE, got {option!r}")
    name, equals, value = option.partition("=")
    name = "--" + name.lstrip("-") if option.startswith("-") else name
    name = ALIASES.get(name, name)
    if name not in ALLOWED:
        raise UsageError(
            f"the compile option {option!r} is not allowed", hint="allowed: -DNAME=VALUE " + " ".join(sorted(ALLOWED))
        )
    pattern = ALLOWED[name]
    if pattern is None:
        if equals:
            raise UsageError(f"expected {name} without a value, got {option!r}")
        return name
    if not re.fullmatch(pattern, value) or (name == "--maxrregcount" and int(value) > 255):
        wanted = "a number from 1 to 255" if name == "--maxrregcount" else pattern.replace("\\", "")
        raise UsageError(f"expected {name}={wanted}, got {option!r}")
    return f"{name}={value}"
