"""The question that a bench asks, and the answer that its outcomes give: in a sentence, with n and interval.

Sentences are made from the same numbers as the tables. An interval that crosses "no difference" is told as not shown.
"""

from __future__ import annotations

from collections.abc import Sequence

from warpsight.bench.metrics import MeanInterval
from warpsight.report.bench_charts import compared, difference_said, difference_words
from warpsight.report.bench_data import Bench, BenchCondition, DrawnMeasure, kind_of_model, measures_of, paired
from warpsight.report.html import Html, join, tag

QUESTION = "Does a profile help a model make kernels faster?"
_ASKED = {"recommend": "Does it name the right change?", "classify": "Does it know what bounds the kernel?"}
_OTHERWISE = "Does it make kernels faster?"
_KINDS = ("The best model", "The best script", "The right answers themselves")
_VERDICTS = ("Yes", "No, worse", "Not shown")
_PROFILES = ("curated", "raw")  # what a profile shows; `time` is a time alone, `wrong` misleads


def answers_section(bench: Bench) -> Html:
    """For each suite its question, the answer, the best of each kind, and all differences in pairs."""
    parts: list[Html] = []
    for suite in bench.suites:
        shown = measures_of(suite)[0]
        parts.append(tag("h2", f"{_ASKED.get(suite, _OTHERWISE)} (suite {suite})"))
        parts.append(_answer(bench, suite, shown))
        parts.append(tag("div", _best(bench.of_suite(suite), shown), class_="cards"))
        differences = [tag("li", difference_words(one, other, shown)) for one, other in compared(bench, suite)]
        if differences:
            title = tag("summary", f"{len(differences)} differences in pairs, on the same tasks")
            parts.append(tag("details", title, tag("ul", differences, class_="differences")))
    return tag("section", parts, id="result")


def _answer(bench: Bench, suite: str, shown: DrawnMeasure) -> Html:
    """What a profile brings each model, against the same model without feedback; scripts where there is no model."""
    pairs = [
        (one, paired(one, other, shown))
        for one, other in compared(bench, suite)
        if other.feedback == "none" and one.model == other.model and one.feedback in _PROFILES
    ]
    asked = [pair for pair in pairs if kind_of_model(pair[0].model) == 0] or pairs
    if not asked:
        return tag("p", "Not asked: nobody has both a profile and none here.", class_="answer")
    found = [
        max((pair for pair in asked if pair[0].model == model), key=lambda p: (p[1].tasks, p[0].feedback == "curated"))
        for model in dict.fromkeys(side.model for side, _ in asked)
    ]
    told = {word: [side.model for side, what in found if _verdict(what) == word] for word in _VERDICTS}
    said = ". ".join(f"{word} for {', '.join(models)}" for word, models in told.items() if models)
    rows = [
        tag("li", tag("b", side.model), f", feedback {side.feedback} against none: {difference_said(what, shown)}")
        for side, what in found
    ]
    return join(tag("p", f"{said}.", class_="answer"), tag("ul", rows))


def _verdict(found: MeanInterval) -> str:
    return _VERDICTS[0] if found.low > 0 else _VERDICTS[1] if found.high < 0 else _VERDICTS[2]


def _best(sides: Sequence[BenchCondition], shown: DrawnMeasure) -> list[Html]:
    """A card for the best of each kind: models come first."""
    cards: list[Html] = []
    for kind, title in enumerate(_KINDS):
        some = [(shown.of(side.outcomes), side) for side in sides if kind_of_model(side.model) == kind]
        if not some:
            continue
        most = max(found.tasks for found, _ in some)  # the best of many small groups would be luck
        found, side = max((pair for pair in some if 2 * pair[0].tasks >= most), key=lambda pair: pair[0].value)
        value = f"{shown.say(found.value)}, n = {found.tasks}"
        interval = f"{shown.title.lower()}, {shown.say(found.low)} to {shown.say(found.high)}"
        says = join(f"{title}: ", tag("b", side.name), f"; {interval}")
        cards.append(tag("div", tag("strong", value), tag("span", says), class_="card big" if not cards else "card"))
    return cards
