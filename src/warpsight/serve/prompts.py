"""Prompts that a client offers its user as commands: each says what is wanted and in which order tools help.

Only words. What must stay true: every tool that a prompt names is listed, and what a user fills in is quoted as data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from warpsight.errors import UsageError

MOST_CHARACTERS = 400


@dataclass(frozen=True)
class ServedPrompt:
    """One prompt. `text` has a place `{name}` for each argument; all of them must be given."""

    name: str
    title: str
    description: str
    arguments: Mapping[str, str]
    text: str

    def filled(self, given: Mapping[str, str]) -> str:
        """The text for what the user gave."""
        for name in given:
            if name not in self.arguments:
                raise UsageError(f"the prompt {self.name} takes {', '.join(self.arguments)}; {name[:60]!r} is not one")
        words: dict[str, str] = {}
        for name, about in self.arguments.items():
            word = " ".join(given.get(name, "").split())
            if not word or len(word) > MOST_CHARACTERS:
                raise UsageError(f"{name}: expected {about}, in at most {MOST_CHARACTERS} characters")
            words[name] = word.replace("`", "'")
        return self.text.format(**words)


TASK = "a task folder, or the name of one"
PROMPTS = {
    prompt.name: prompt
    for prompt in (
        ServedPrompt(
            "optimise_kernel", "Make this kernel faster", "Profile, change one thing, check, time, submit.",
            {"task": TASK},
            "Make the kernel of the task `{task}` faster with the warpsight tools. Call `read_task` and `profile` "
            "first. Name the cause with its counter and line. Try `rewrite` for it; where that does not help, edit "
            "a copy of the kernel yourself. After each change call `check`, then `time`, then `compare`, and say "
            "whether the counter moved as you expected. `submit` the fastest right kernel. Tell me what was slow, "
            "what you changed, the decision, the ratio with its interval, and whether times are simulated or measured.",
        ),
        ServedPrompt(
            "explain_profile", "Explain why this kernel is slow", "A profile in plain words, nothing is changed.",
            {"task": TASK},
            "Call `profile` for the task `{task}`, and `inspect` for its hot lines. Change nothing. Explain in plain "
            "words what limits the kernel, on which lines, and by which counters. Then list at most three changes, the "
            "one with the largest estimated gain first, and say for each which counter should move.",
        ),
        ServedPrompt(
            "new_task", "Make a task from my kernel", "Drafts the task folder and checks it.",
            {"kernel_file": "the path of a .cu file", "name": "a name for the task"},
            "Call `new_task` with the kernel file `{kernel_file}` and the name `{name}`. Read what was guessed, and "
            "mend task.toml where a guess is wrong: sizes, ranges of the inputs, the launch. The kernel says what is "
            "right. Call `check` until it is right without faults, and tell me what you had to decide.",
        ),
        ServedPrompt(
            "profile_program", "Where does my program spend its time", "Runs a whole CUDA program without a GPU.",
            {"program": "a .cu file, or a folder with a Makefile or CMakeLists.txt"},
            "Call `run_program` for `{program}` with how=profile. Tell me which kernels take the simulated time, what "
            "limits the first of them, and what a fix would bring the whole program. Times are simulated: say so.",
        ),
    )
}  # fmt: skip
