"""`warpsight optimize TASK`: a model makes the kernel faster with the tools; you get the kernel and the evidence.

A program in place of a task (a .cu file with a main, a folder that is built) is `cli/optimize_program.py`.

Thin: the job is planned and judged in `reason/optimize.py`, shown by `text/optimize.py` and `text/optimize_view.py`.
Exit code 0 when a right and faster kernel was found, 1 when not, 130 when interrupted.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from warpsight.cli.check import TASK_HELP
from warpsight.cli.compare import UNSAFE_HELP
from warpsight.cli.device_argument import DEVICE_HELP, DEVICES
from warpsight.cli.optimize_program import optimize_if_program
from warpsight.cli.options import On
from warpsight.cli.output import ExitCode, emit
from warpsight.cli.profile import ARGUMENTS_HELP, GPU_HELP
from warpsight.errors import UsageError

if TYPE_CHECKING:
    from warpsight.processes.executor import Executor
    from warpsight.reason.job import Job
    from warpsight.reason.optimize import OptimizeResult

INTERRUPTED = 130  # what shells give a program that Ctrl-C ended
MODEL_HELP = (
    "anthropic:NAME, openai:NAME, responses:NAME, local, local:PATH, FILE.gguf, scripted:FILE.json, scripted:demo,"
    " guided, trained or package.module:Class; by default guided: a search by rule, with no model. trained is the small"
    " model of this package."
)
FEEDBACK_HELP = "What `profile` and `time` show the model: none, time, raw or curated."
BUDGET_HELP = (
    "Limits, joined by commas without spaces: calls=20, tokens=100000, seconds=900, usd=0.50. usd needs "
    "WARPSIGHT_PRICES or a provider that tells costs. By default 24 calls; 6 for the trained model."
)
PROMPT_HELP = (
    "How the model is asked: small (few tools, for about 8B parameters or fewer), full, trained (with an adapter); by"
    " default what its name and place suggest."
)
TOOLS_HELP = (
    "The tools that the model gets, such as rewrite,time; submit is always there. By default those of the prompt."
)
CONSTRAIN_HELP = (
    "Ask the server or engine to hold the model to a call; by default for the small prompt and models near by."
)
TIMEOUT_HELP = "How long one reply may take; by default 900 for a server, and no limit for local weights."
OUT_HELP = (
    "Where to write the new kernel, for a program the folder with patch and evidence; by default named after the run or"
    " the program, here."
)
KERNEL_HELP = "Begin with this kernel, and beat it. Of a program: the name of its kernel to make faster."
ATTEMPTS_HELP = "refine: rounds; best-of-n: how many; beam: depth."
CALLING_HELP = "native, or text for endpoints that cannot call tools."
TEMPERATURE_HELP = "Of the model; not sent by default."
MAX_TOKENS_HELP = "Of one reply; by default 8192, for the trained model 384."
Prompt = Literal["small", "full", "trained"]
PROCESSES_HELP = "best-of-n and beam: how many attempts at once."
STRATEGY_HELP = "How attempts are put together: single, refine, best-of-n or beam."
WITH_HELP = "Of a program: judge this kernel, and bring it in, instead of looking for one."
StrategyName = Literal["single", "refine", "best-of-n", "beam"]


def optimize(
    task: Annotated[str, typer.Argument(metavar="TASK|PROGRAM", help=TASK_HELP)],
    arguments: Annotated[list[str] | None, typer.Argument(metavar="ARGUMENT", help=ARGUMENTS_HELP)] = None,
    model: Annotated[str | None, typer.Option(metavar="MODEL", help=MODEL_HELP)] = None,
    gpu: Annotated[str | None, typer.Option(metavar="NAME", help=GPU_HELP)] = None,
    device: Annotated[str, typer.Option(metavar=DEVICES, help=DEVICE_HELP)] = "virtual",
    kernel: Annotated[
        Path | None, typer.Option("--kernel", "--candidate", metavar="FILE|NAME", help=KERNEL_HELP)
    ] = None,
    by_hand: Annotated[Path | None, typer.Option("--with", metavar="FILE", help=WITH_HELP)] = None,
    feedback: Annotated[str, typer.Option(metavar="MODE", help=FEEDBACK_HELP)] = "curated",
    budget: Annotated[str | None, typer.Option(metavar="LIMITS", help=BUDGET_HELP)] = None,
    strategy: Annotated[StrategyName, typer.Option(metavar="HOW", help=STRATEGY_HELP)] = "single",
    attempts: Annotated[int, typer.Option(metavar="N", min=1, help=ATTEMPTS_HELP)] = 4,
    width: Annotated[int, typer.Option(metavar="N", min=1, help="beam: how many kernels are kept.")] = 2,
    processes: Annotated[int, typer.Option(min=1, help=PROCESSES_HELP)] = 1,
    on: On = None,
    base_url: Annotated[str | None, typer.Option(metavar="URL", help="An endpoint of the model's format.")] = None,
    api_key_env: Annotated[str | None, typer.Option(metavar="NAME", help="The variable that holds the key.")] = None,
    adapter: Annotated[Path | None, typer.Option(metavar="FOLDER", help="A PEFT adapter, with a local model.")] = None,
    prompt: Annotated[Prompt | None, typer.Option(metavar="KIND", help=PROMPT_HELP)] = None,
    tools: Annotated[str | None, typer.Option(metavar="NAMES", help=TOOLS_HELP)] = None,
    constrain: Annotated[Literal["on", "off"] | None, typer.Option(metavar="on|off", help=CONSTRAIN_HELP)] = None,
    reply_timeout: Annotated[float | None, typer.Option(metavar="SECONDS", min=1, help=TIMEOUT_HELP)] = None,
    calling: Annotated[Literal["native", "text"], typer.Option(metavar="HOW", help=CALLING_HELP)] = "native",
    temperature: Annotated[float | None, typer.Option(metavar="T", min=0, help=TEMPERATURE_HELP)] = None,
    seed: Annotated[int | None, typer.Option(metavar="N", min=0, help="Of the model's sampling.")] = None,
    max_tokens: Annotated[int | None, typer.Option(metavar="N", min=16, help=MAX_TOKENS_HELP)] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help=OUT_HELP)] = None,
    unsafe: Annotated[bool, typer.Option("--unsafe", help=UNSAFE_HELP)] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Let a model make a kernel faster: it profiles, edits, checks and times; a faster kernel gets a certificate.

    \b
    Examples:
      warpsight optimize transpose --model scripted:demo
      warpsight optimize softmax --model anthropic:NAME --budget calls=30
      warpsight optimize saxpy --model openai:NAME --base-url http://127.0.0.1/v1
      warpsight optimize saxpy.cu 1000000
    """
    from warpsight.reason.job import Strategy
    from warpsight.verbs.optimize import attempts_executor, plan_job

    asked = _together(
        model=model, device=device, feedback=feedback, budget=budget,
        strategy=Strategy(name=strategy, attempts=attempts, width=width), prompt=prompt, calling=calling,
        tools=[name.strip() for name in (tools or "").split(",") if name.strip()],
        constrain=None if constrain is None else constrain == "on",
        reply_timeout=reply_timeout, temperature=temperature, seed=seed, max_tokens=max_tokens, adapter=adapter,
        base_url=base_url, api_key_env=api_key_env, unsafe=unsafe,
    )  # fmt: skip
    optimize_if_program(
        task, arguments, kernel=kernel, by_hand=by_hand, gpu=gpu, out=out, quiet=quiet, as_json=as_json, asked=asked
    )
    planned = plan_job(task, kernel, gpu=gpu, **asked)
    _tell_chosen("" if quiet else planned.chosen)
    executor = attempts_executor(planned.job, on, processes)
    run_and_report(planned.job, out, executor=executor, quiet=quiet, as_json=as_json)


def _tell_chosen(model: str) -> None:
    if model:
        print(f"no --model was given: using {model}", file=sys.stderr)


def _together(**words: Any) -> dict[str, Any]:
    return words


def run_and_report(job: Job, out: Path | None, *, executor: Executor | None = None, quiet: bool, as_json: bool) -> None:
    """Start a job or go on with it, and end the command as it ended."""
    from warpsight.cli.text.optimize_view import OptimizeView
    from warpsight.verbs.optimize import run

    if out is not None and out.is_dir():
        raise UsageError(f"expected a file for the kernel, got the folder {out}", hint=f"--out {out / 'kernel.cu'}")
    with OptimizeView(job.id, job.budget, quiet=quiet) as view:
        found = run(job, watch=view.watch, say=view.say, begin=view.begin, executor=executor)
    report(found, out, as_json=as_json)


def report(found: OptimizeResult, out: Path | None, *, as_json: bool) -> None:
    """Write the kernel, say what came of the run, and end with the code that it means."""
    from warpsight.cli.text import optimize as optimize_text
    from warpsight.verbs.optimize import write_kernel

    file, page = write_kernel(found, out), found.report_file
    assert page is not None
    emit(
        optimize_text.document_of(found, file) | {"report_file": str(page)},
        as_json=as_json,
        render=lambda console: optimize_text.render(console, found, file, page),
    )
    if found.run.outcome == "stopped":
        raise typer.Exit(INTERRUPTED if found.run.reason == "interrupted" else _code_of(found.run.reason))
    raise typer.Exit(int(ExitCode.WRONG if found.final is None else ExitCode.FINE))


def _code_of(reason: str) -> int:
    """What a run that was stopped by an error ends with: the code of that error, which the reason begins with."""
    from warpsight.models import errors

    kind = getattr(errors, reason.partition(":")[0], None)
    return kind.exit_code if isinstance(kind, type) and issubclass(kind, errors.ModelError) else int(ExitCode.BROKEN)
