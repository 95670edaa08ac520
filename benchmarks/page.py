"""`python -m benchmarks.page`, or `make results-page`: writes docs/results.md from the records in results/numbers.

Where a number has changed, the pages that quote it are changed too. It measures nothing. `--check` writes nothing and
fails if the page is not what the records say.
"""

from __future__ import annotations

import sys

from benchmarks.published import ROOT, Published, Run, Topic, published, topics
from benchmarks.quotes import pages, requoted, shown, shown_on

PAGE = ROOT / "docs" / "results.md"
HEAD = """\
# Results

Every number that the README and these pages publish, with the command that gives it. Other pages quote from here.

<!-- This page is made by `make results-page` from results/numbers/*.toml. Change a record there, not this page. -->

## How to read this page

- **How** says what kind of number it is. `measured`: a clock or a profiler on real hardware. `simulated`: the virtual
  GPU and its [time model](time-model.md). `replayed`: played again from a stored run. `counted`: a tally, no time.
- **n** is how many things the number is about. **Interval** is a 95 % interval unless the row says otherwise.
- **Commit** is the version that was measured, or the one that recorded the number.
- **Time model** names the version of the time model, where that is older than today's. Simulated times changed since
  then, so compare such a number only with numbers of the same version.
- Nothing was run on a GPU by us. "Against published measurements" means that others measured real GPUs.
- Results of experiments that were rejected are in [experiments](experiments.md).

To change a number, edit its record in `results/numbers/`, then run `make results-page`. It writes this page and changes
the quotes on other pages. A test holds that the page, the records and every quote agree.
"""
COLUMNS = ("what", "value", "interval", "n", "how", "date", "commit", "time model")


def main(words: list[str]) -> int:
    made = page()
    if "--check" in words:
        same = PAGE.is_file() and PAGE.read_text(encoding="utf-8") == made
        print(
            "docs/results.md is what the records say" if same else "docs/results.md is out of date: make results-page"
        )
        return 0 if same else 1
    before = shown_on(PAGE.read_text(encoding="utf-8")) if PAGE.is_file() else {}
    now = {name: shown(record) for name, record in published().items()}
    for quoting in pages():
        text = quoting.read_text(encoding="utf-8")
        if (new := requoted(text, before, now)) != text:
            quoting.write_text(new, encoding="utf-8")
            print(f"changed quotes in {quoting.relative_to(ROOT)}")
    PAGE.write_text(made, encoding="utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}")
    return 0


def page() -> str:
    """The whole page."""
    return "\n".join([HEAD, *(_topic(topic) for topic in topics())])


def _topic(topic: Topic) -> str:
    about = [topic.about, ""] if topic.about else []
    return "\n".join([f"## {topic.title}", "", *about, *(_run(run) for run in topic.runs)])


def _run(run: Run) -> str:
    said = [run.about, ""] if run.about else []
    command = " and ".join(f"`{part}`" for part in run.command.split(" and ")) if run.command else "none kept"
    said += [f"Command: {command}." + (f" Machine: {run.machine}." if run.machine else ""), ""]
    return "\n".join([*said, *_table(run), ""])


def _table(run: Run) -> list[str]:
    """The columns that have something to say, in their order."""
    rows = [dict(zip(COLUMNS, _cells(result), strict=True)) for result in run.results]
    shown = [name for name in COLUMNS if any(row[name] for row in rows)]
    lines = ["| " + " | ".join(shown) + " |", "|---" * len(shown) + "|"]
    return lines + ["| " + " | ".join(row[name] for name in shown) + " |" for row in rows]


def _cells(one: Published) -> tuple[str, ...]:
    return (
        f"{one.what} <!-- record:{one.name} -->",
        one.value,
        one.interval,
        one.n,
        one.how,
        one.date,
        one.commit,
        one.time_model,
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
