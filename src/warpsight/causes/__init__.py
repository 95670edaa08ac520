"""One dictionary of why kernels are slow: findings, causes of `rewrite`, planted defects and answers share its names.

`causes.toml` is the list. Other names that were in use before are aliases and stay accepted wherever a user, a model or
a file may say them; an alias that several causes share means all of them. Knows nothing of detectors and rewrites.
"""

from __future__ import annotations

import difflib
import functools
import re
import tomllib
from importlib import resources

from warpsight.errors import UsageError
from warpsight.nouns.base import Noun

NOTHING = "nothing"
NOTHING_ADVICE = "Leave it: no single change here gives more than a few per cent."
TIE = 1.03  # gains that differ by less are as good: what a corpus calls right, and what is called a gain at all
STOP = ("at_roofline", "launch_overhead")  # findings that say: leave the kernel as it is


class Cause(Noun):
    """One entry of the dictionary; causes.toml says what each field is."""

    name: str
    meaning: str
    advice: str
    aliases: tuple[str, ...] = ()
    behind: tuple[str, ...] = ()
    defect: bool = False
    vague: bool = False
    first_word: str = ""


@functools.cache
def causes() -> dict[str, Cause]:
    """All causes by name, in the file's order."""
    text = resources.files("warpsight.causes").joinpath("causes.toml").read_text()
    return {name: Cause(name=name, **entry) for name, entry in tomllib.loads(text).items()}


@functools.cache
def _by_alias() -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for cause in causes().values():
        for alias in cause.aliases:
            found.setdefault(alias, []).append(cause.name)
    return {alias: tuple(names) for alias, names in found.items()}


def aliases() -> tuple[str, ...]:
    """Every other name that is accepted."""
    return tuple(_by_alias())


def named(word: str) -> tuple[str, ...]:
    """The causes that a word names: one, all that share an alias, none where nobody calls anything so."""
    return (word,) if word in causes() else _by_alias().get(word, ())


def require_named(word: str) -> tuple[str, ...]:
    """The same; UsageError where there is none, with the names that come near."""
    found = named(word)
    if not found:
        near = difflib.get_close_matches(word, (*causes(), *_by_alias()), n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else "`warpsight explain` lists them"
        raise UsageError(f"expected a cause: {', '.join(causes())}; got {word[:60]!r}", hint=hint)
    return found


def canonical(word: str) -> str:
    """The one name of what a word means; the word itself where it means several causes, or none."""
    found = named(word)
    return found[0] if len(found) == 1 else word


def cause_in(words: str) -> str:
    """The first name, or other name, that stands in a text; else the text itself."""
    known = {*causes(), *_by_alias()}
    return next((canonical(word) for word in re.findall(r"[a-z][a-z0-9_]*", words.lower()) if word in known), words)


def with_behind(word: str) -> tuple[str, ...]:
    """The causes that a word names, and then those that are often behind them."""
    own = named(word)
    return tuple(dict.fromkeys((*own, *(other for name in own for other in causes()[name].behind))))


def defects() -> dict[str, Cause]:
    """The causes that a corpus plants."""
    return {name: cause for name, cause in causes().items() if cause.defect}


def defects_of(word: str) -> list[str]:
    """The defects that a word stands for: itself, or what is often behind it; in the order of likelihood."""
    return [name for name in with_behind(word) if causes()[name].defect]


def answers() -> tuple[str, ...]:
    """Everything a recommendation may say."""
    return (*defects(), NOTHING)


def advice_for(answer: str) -> str:
    """An answer as a person would be told it."""
    return NOTHING_ADVICE if answer == NOTHING else causes()[canonical(answer)].advice


def first_word(name: str) -> str:
    """What models that were trained before there was one dictionary know a finding as."""
    found = causes().get(name)
    return found.first_word or name if found else name
