"""An oracle that writes reasoning: it knows what was measured, looks with the real tools, and says why.

A script for the loop (models/scripted.py): the calls are real calls and their results are in the transcript, only the
words between them are made here, from a seed. It looks (unless it is a text-only trace), weighs what was found, in the
suite `optimize` has what may be the cause tried, if asked to also what does not help, and then answers. What must stay
true: it never states a number that a tool did not show it, and what it answers is compared with what was measured.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from warpsight.causes import NOTHING, defects_of
from warpsight.corpus.build import CorpusRow
from warpsight.corpus.removal import removal_edits
from warpsight.models.model import Request, ToolMessage
from warpsight.models.text_calls import CLOSE, OPEN
from warpsight.session.feedback import Feedback
from warpsight.short.prompting import ANY, CAUSE, CAUSES, MOST_CAUSES, REWRITE, Suite
from warpsight.short.words import NO_REWRITE, SAID_BEST, most_of
from warpsight.tools.box import SUBMIT
from warpsight.tools.profile import Found

FIRST = ("Look first.", "The text does not say what limits it here.", "What does it wait for?", "Profile it.", "")
FIRST_TEXT_ONLY = ("From the text alone.", "Nothing can be measured here.", "Read the text.", "")
SUSPECTS = ("In the text: {}.", "Candidates: {}.", "It could be {}.")
NO_HELP = ("That does not help: go back.", "No gain: back.", "Not it.")
HELPS = ("That is it.", "Faster.", "It helps.")
TRY = ("Try {}.", "Is it {}?", "Maybe {}.")
TRAP_SHARE = 0.4
_HELPED = re.compile(r"(?:also: |with |, )(\w+)(?: (\d+\.\d+)x)?(?=, |$| \()", re.MULTILINE)
SUSPECT_SHARE = 0.3  # a model that reads badly is misled by what it thinks it has read


@dataclass(frozen=True)
class OracleScript:
    """The script of one trace; `findings` are what a curated profile listed."""

    row: CorpusRow
    suite: Suite
    feedback: Feedback
    seed: int
    findings: Callable[[], Sequence[Found]]
    suspects: float = SUSPECT_SHARE  # how often it first says what stands in the text
    vain: float = 0.0  # how often it looks where profiles are off, is told so, and answers from the text
    types: bool = False  # in the suite `optimize`: writes the edits itself instead of naming the cause to `rewrite`
    detours: float = 0.0  # in the suite `optimize`: how often it first has a defect tried that does not matter

    def script(self) -> Callable[[Request], str]:
        """The turns, decided as the conversation goes on."""
        draw = random.Random(f"oracle {self.seed} {self.row.spec.key} {self.row.number}")
        answer = draw.choice(self.row.truth.right)
        if self.suite == "optimize" and not self.types:
            return self._rewriting(draw, answer)
        turns = self._turns(draw, answer)
        return lambda request: turns[played(request)]() if played(request) < len(turns) else ""

    def _rewriting(self, draw: random.Random, answer: str) -> Callable[[Request], str]:
        """Look, have all tried that the findings point at and what may help any kernel, hand in what came of it, and
        say what gave most.

        Where findings are not shown what stands in the text is tried: it is told which defects were planted, and not
        which of them matter. Where times are shown the answer is one that the tries showed to help: the measured one
        where it is among them, else what gave most. A trace whose answer is not the measured one is not kept.
        """
        opening = self._turns(draw, answer, opening=True)
        lead = "" if opening else draw.choice(FIRST_TEXT_ONLY)
        words = draw.choice(TRY)
        detour, back = self._detour()

        def next_turn(request: Request) -> str:
            if played(request) < len(opening):
                return opening[played(request)]()
            results = [m.text for m in request.messages if isinstance(m, ToolMessage) and m.name == REWRITE]
            if detour and not results:
                return turn_of((words.format(detour),), REWRITE, {CAUSES: [detour]})
            names = self._tried(draw, answer)
            if names and len(results) == bool(detour) and not any(map(SAID_BEST.match, results)):
                return turn_of((back if detour else lead, words.format(", ".join(names))), REWRITE, {CAUSES: names})
            if self.feedback == "none":
                return turn_of((lead,), SUBMIT, {CAUSE: answer})
            chosen, why = among(results, self.row.truth.right) or most_of(results, self.row.spec.defects)
            return turn_of((why,), SUBMIT, {CAUSE: chosen})

        return next_turn

    def _detour(self) -> tuple[str, str]:
        """A defect that stands in the text and was measured not to matter, and what is said when it did not help."""
        draw = random.Random(f"detour {self.seed} {self.row.spec.key} {self.row.number}")
        traps = self._traps() if self.feedback != "none" and draw.random() < self.detours else []
        return (draw.choice(traps), draw.choice(NO_HELP)) if traps else ("", "")

    def _traps(self) -> list[str]:
        """Defects that were measured not to matter."""
        truth = self.row.truth
        return sorted(defect for defect, without in truth.without_us.items() if truth.time_us / without < 1.03)

    def _tried(self, draw: random.Random, answer: str) -> list[str]:
        if self.feedback == "none":
            return [] if answer == NOTHING else [answer]
        if self.feedback == "curated":
            pointing = dict.fromkeys(one.name for one in self.findings() if defects_of(one.name))
            return [*list(pointing)[: MOST_CAUSES - 1], ANY]
        planted = list(self.row.spec.defects)
        draw.shuffle(planted)
        return [*planted, ANY]

    def _turns(self, draw: random.Random, answer: str, *, opening: bool = False) -> list[Callable[[], str]]:
        looks = self.feedback != "none" or draw.random() < self.vain
        suspects = self._suspects(draw) if draw.random() < self.suspects else ""
        turns: list[Callable[[], str]] = []
        lead = suspects
        if looks:
            first = draw.choice(FIRST)
            turns.append(lambda: turn_of((suspects, first), "profile", {}))
            lead = ""
        elif not suspects:
            lead = draw.choice(FIRST_TEXT_ONLY)
        if opening:
            return turns
        if self.suite == "recommend":
            turns.append(lambda: turn_of((lead, self._why(draw, answer)), SUBMIT, {CAUSE: answer}))
            return turns
        return [*turns, *self._tries(draw, answer, lead)]

    def _tries(self, draw: random.Random, answer: str, lead: str) -> list[Callable[[], str]]:
        """Changes that are made: perhaps one that was measured not to help, then the one that helps most."""
        turns: list[Callable[[], str]] = []
        traps = self._traps()
        back = ""
        if self.feedback != "none" and traps and draw.random() < TRAP_SHARE:
            trap, said = draw.choice(traps), draw.choice(TRY)
            change = self._edits(trap)
            turns.append(lambda: turn_of((lead, said.format(trap)), "time", {"edits": change}))
            lead, back = "", draw.choice(NO_HELP)
        why = self._why(draw, answer)
        if answer == NOTHING:
            turns.append(lambda: turn_of((lead, back, why), SUBMIT, {CAUSE: answer, "base": "given"}))
            return turns
        right = {"edits": self._edits(answer), "base": "given"}
        predicts = self._predicts(answer)
        if self.feedback == "none":
            turns.append(lambda: turn_of((lead, why), SUBMIT, {CAUSE: answer, **predicts, **right}))
            return turns
        helps = draw.choice(HELPS)
        turns.append(lambda: turn_of((lead, back, why), "time", right))
        turns.append(lambda: turn_of((helps,), SUBMIT, {CAUSE: answer, **predicts}))
        return turns

    def _suspects(self, draw: random.Random) -> str:
        """What stands in the text, which anybody who reads it well can see."""
        seen = list(self.row.spec.defects)
        draw.shuffle(seen)
        return draw.choice(SUSPECTS).format(", ".join(seen))

    def _why(self, draw: random.Random, answer: str) -> str:
        """Why the answer: the finding that points at it, or what the larger ones lack."""
        if self.feedback != "curated":
            return f"The answer is {answer}." if draw.random() < 0.5 else f"So {answer}."
        found = list(self.findings())
        points = [f for f in found if answer != NOTHING and answer in defects_of(f.name)]
        if points:
            mine = points[0]
            over = found[: found.index(mine)][:1]
            passed = f"{said_of_finding(over[0])} has no cause here; " if over else ""
            return f"{passed}{said_of_finding(mine)} is {answer}."
        top = f"{said_of_finding(found[0])}. " if found else ""
        if answer == NOTHING:
            return f"{top}Nothing to gain." if draw.random() < 0.5 else f"{top}Leave it."
        return f"{top}Its cause is {answer}."

    def _edits(self, defect: str) -> list[dict[str, str]]:
        return [{"search": edit.search, "replace": edit.replace} for edit in removal_edits(self.row.spec, defect)]

    def _predicts(self, answer: str) -> dict[str, dict[str, str]]:
        """What the finding that points at the answer says should move; nothing where none does."""
        if self.feedback != "curated":
            return {}
        for found in self.findings():
            if answer in defects_of(found.name):
                moves = {name: way for name, way in found.should_move.items() if name != "duration_us"}
                return {"predicts": dict(list(moves.items())[:1])} if moves else {}
        return {}


def among(results: Sequence[str], right: Collection[str]) -> tuple[str, str] | None:
    """A right cause that helped and did not give most, and how that is said: a rewrite of what is no defect, such as
    another launch, may give more than mending one."""
    for text in results:
        best = SAID_BEST.match(text)
        if best is None or best[1] in right:
            continue
        helped = "\n".join(line for line in text.splitlines() if not line.startswith(NO_REWRITE))
        for cause, gain in _HELPED.findall(helped):
            if cause in right:
                return cause, f"{best[1]} gave most, {best[2]}x; the defect is {cause}{gain and f', {gain}x'}."
    return None


def said_of_finding(found: Found) -> str:
    return found.name if found.estimated_gain is None else f"{found.name} {found.estimated_gain:.2f}x"


def turn_of(words: Sequence[str], tool: str, arguments: Mapping[str, object]) -> str:
    said = " ".join(filter(None, words))
    call = json.dumps({"name": tool, "arguments": arguments})
    return f"{said}\n{OPEN}{call}{CLOSE}" if said else f"{OPEN}{call}{CLOSE}"


def played(request: Request) -> int:
    return sum(message.role == "assistant" for message in request.messages)
