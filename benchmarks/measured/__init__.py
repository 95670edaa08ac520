"""The time model against published measurements of thousands of kernels on real cards.

`make bench ARGS=measured:DATA,KERNELS`: DATA holds the tables of measurements, KERNELS the texts of the kernels (a
folder of checkouts will do); neither is part of this project. WARPSIGHT_MEASURED and WARPSIGHT_KERNELS name them as
well. More words: `n=40` rows a set, `set=conv` sets whose name has this, `terms` for each mechanism left out in turn,
`write` for the file of errors that the library loads (of all sets), `jobs=2`, `seed=`, `cache=FILE`. Times are drafts
at the clock that the measurement had. Nothing in the model is fitted to these kernels.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from benchmarks.measured.predicted import model_key
from benchmarks.measured.report import HEADER, line_of, report_set
from benchmarks.measured.sets import SETS, MeasuredSet, read_rows
from benchmarks.measured.statistics import agreement
from benchmarks.measured.trust import report_trust, timed_rows, write_tables
from benchmarks.measured.work import Predicted, Request, predict_set
from warpsight.vgpu.model_error import BUILT_IN
from warpsight.vgpu.timemodel import TERMS

DATA, UNNAMED = Path("../shared/data/measured"), "no folder of kernels named"
WHERE = "name the folders: make bench ARGS=measured:DATA,KERNELS, or WARPSIGHT_MEASURED and WARPSIGHT_KERNELS"


def request_of(argument: str, environment: Mapping[str, str]) -> Request:
    """From the words after `measured:`; folders that are not named come from the environment."""
    words = [word for word in argument.split(",") if word]
    options = dict(word.split("=", 1) for word in words if "=" in word)
    unknown = sorted(options.keys() - {"n", "seed", "jobs", "set", "cache"})
    if unknown:
        raise ValueError(f"expected n=, seed=, jobs=, set= or cache=, found {unknown[0]}=")
    folders = [word for word in words if "=" not in word and word not in ("terms", "write")]
    data = folders[0] if folders else environment.get("WARPSIGHT_MEASURED", str(DATA))
    kernels = folders[1] if len(folders) > 1 else environment.get("WARPSIGHT_KERNELS", "")
    plain = Request(Path(data), Path(kernels or UNNAMED))
    return Request(
        data=plain.data,
        kernels=plain.kernels,
        n=int(options.get("n", plain.n)),
        seed=int(options.get("seed", plain.seed)),
        jobs=int(options.get("jobs", plain.jobs)),
        terms="terms" in words,
        only=options.get("set", ""),
        cache=Path(options.get("cache", plain.cache)),
        write="write" in words,
    )


def missing(one: MeasuredSet, request: Request) -> str:
    """Why a set cannot be run here; empty when it can."""
    if not (request.data / one.file).is_file():
        return f"no {one.file} in {request.data}"
    if not request.kernels.is_dir():
        return f"no folder {request.kernels}" if str(request.kernels) != UNNAMED else UNNAMED
    try:
        one.source(request.kernels)
    except OSError as problem:
        return str(problem)
    return ""


def say(text: str) -> None:
    print(text, flush=True)


def progress(text: str) -> None:
    """Apart from the tables, so that these can be kept."""
    print(text, file=sys.stderr, flush=True)


def main(argument: str = "") -> None:
    request = request_of(argument, os.environ)
    wanted = [one for one in SETS if request.only.lower() in one.name.lower()]
    absent = {one.name: reason for one in wanted if (reason := missing(one, request))}
    for name, reason in absent.items():
        say(f"{name}: left out, {reason}")
    if len(absent) == len(wanted):
        say(WHERE)
        return
    say("simulated against published times; errors are |log2|, pairs less than 5 % apart are ties, picks in % of the")
    say(f"speed of the best of the chosen rows ({request.n} a set, seed {request.seed})")
    done: list[Predicted] = []
    for one in (one for one in wanted if one.name not in absent):
        done.append(predict_set(one, request, progress))
        others = [(other.name, read_rows(other, request.data)) for other in _other_convolutions(one, request)]
        report_set(done[-1], others, say)
        if request.terms:
            _terms(done[-1], request)
    rows = timed_rows(done)
    report_trust(rows, say)
    if request.write and len(done) == len(SETS):
        write_tables(rows, model_key())
        say(f"wrote {BUILT_IN.name}")


def _other_convolutions(one: MeasuredSet, request: Request) -> list[MeasuredSet]:
    if not one.name.startswith("conv"):
        return []
    return [o for o in SETS if o.name.startswith("conv") and o is not one and (request.data / o.file).is_file()]


def _terms(plain: Predicted, request: Request) -> None:
    say(f"  without a mechanism\n{HEADER}")
    for term in TERMS:
        told = predict_set(plain.one, request, progress, (term,)).told()
        say(line_of(term, agreement([o.time_us for _, o in told], [row.measured_us for row, _ in told])))
