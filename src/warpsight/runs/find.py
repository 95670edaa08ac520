"""A run by what a person types: its id, the unambiguous beginning of it, a part of it, or `last`."""

from __future__ import annotations

from warpsight.runs.store import NoSuchRun, Store

_SHOWN = 5


def find_run(store: Store, word: str) -> str:
    """The id of the run that is meant; NoSuchRun says which there are."""
    ids = [line.id for line in store.list_runs()]
    if word in ids:
        return word
    if word == "last" and ids:
        return next(line.id for line in store.list_runs() if line.parent is None)
    for found in ([i for i in ids if i.startswith(word)], [i for i in ids if word in i]):
        whole = [i for i in found if not any(i.startswith(f"{other}.") for other in found)]  # attempts of one run
        if len(whole) == 1:
            return whole[0]
        if whole:
            shown = ", ".join(whole[:_SHOWN])
            raise NoSuchRun(f"{word!r} means {len(whole)} runs: {shown}", hint="give more of the id")
    hint = f"the latest are {', '.join(ids[:_SHOWN])}" if ids else "no run has been made yet"
    raise NoSuchRun(f"no run {word!r}", hint=hint)
