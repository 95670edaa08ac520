"""KernelBench problems and candidates in the jail, on the CPU, with a real PyTorch. Left out where there is none."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.tasks.importers.problems import PROBLEMS, candidate_text, write_problems

from warpsight.tasks.importers.kernelbench.cpu import capability
from warpsight.tasks.importers.kernelbench.evaluate import ScorePlan, candidate_sessions, evaluate_candidate
from warpsight.tasks.importers.kernelbench.extension import compiler_of
from warpsight.tasks.importers.kernelbench.problem import KernelBenchProblem, read_kernelbench
from warpsight.tasks.importers.kernelbench.score import CandidateScore, fast_p
from warpsight.tasks.importers.kernelbench.session import RunFailed, TorchSession
from warpsight.toolchain.cache import Cache, cache_folder

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed"),
    pytest.mark.timeout(900),
]
DEADLINE_S = 120.0
QUICK = ScorePlan(trials=2, samples=3, sample_s=0.005)
PLAIN = """\
import torch
class ModelNew(torch.nn.Module):
    def __init__(self{init}):
        super().__init__()
    def forward(self, x):
        {body}
"""


@pytest.fixture(scope="module")
def reference() -> Iterator[TorchSession]:
    with TorchSession(deadline_s=DEADLINE_S) as session:
        yield session


@pytest.fixture(scope="module")
def problems(reference: TorchSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, KernelBenchProblem]:
    folder, _ = write_problems(tmp_path_factory.mktemp("bench"))
    found = read_kernelbench(folder, reference)
    assert not found.refused
    return {one.name.partition("_")[2]: one for one in found.items}


def attempted(
    problem: KernelBenchProblem, text: str, reference: TorchSession, plan: ScorePlan = QUICK
) -> CandidateScore:
    folder = cache_folder()
    compile = compiler_of(Cache(folder / "extensions" if folder else None), deadline_s=900)
    opened = candidate_sessions(compile, threads=1, deadline_s=DEADLINE_S)
    return evaluate_candidate(problem, "candidate.py", text, reference, opened, plan)


def test_problems_are_read_with_their_shapes(problems: dict[str, KernelBenchProblem]) -> None:
    assert len(problems) == len(PROBLEMS) >= 30
    relu, linear, mse = problems["relu"], problems["linear_relu"], problems["mse"]
    assert relu.inputs[0].shape == relu.outputs[0].shape == (64, 512) and relu.weights == 0
    assert linear.weights == 128 * 64 + 64 and [one.value for one in linear.init] == ["128", "64"]
    assert mse.outputs[0].shape == () and len(mse.inputs) == 2
    assert {one.shapes for one in problems.values()} == {"worked out"}


def test_what_cannot_be_imported_is_listed(reference: TorchSession, tmp_path: Path) -> None:
    whole = PROBLEMS[0].text
    texts = {
        "1_huge": whole.replace("torch.randn(64, 512)", "torch.rand(1 << 20, 1 << 20)"),
        "2_computed": whole.replace("torch.relu(x)", "x * x.max().item()"),
        "3_raises": whole.replace("return [torch.randn", "raise ValueError('no data')\n    return [torch.randn"),
        "4_exits": whole.replace("return torch.relu(x)", "import os; os._exit(3)"),
        "5_reads": whole.replace("return torch.relu(x)", "open('/etc/passwd')"),
        "6_helper": "x = 1\n",
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.py").write_text(text)
    found = read_kernelbench(tmp_path, reference)
    by_name = {one.name: one for one in found.items}
    assert set(by_name) == {"1_huge", "2_computed"}
    assert by_name["1_huge"].inputs[0].shape == (1 << 20, 1 << 20)  # four terabytes, and none was made
    assert by_name["2_computed"].shapes == "computed"
    reasons = {one.file: one.reason for one in found.refused}
    assert "problem.py" in reasons["3_raises.py"] and "no data" in reasons["3_raises.py"]
    assert "exited_early" in reasons["4_exits.py"]
    assert "No such file" in reasons["5_reads.py"] or "Permission" in reasons["5_reads.py"]
    assert "Model at the top level" in reasons["6_helper.py"]


def test_a_right_and_a_wrong_candidate(problems: dict[str, KernelBenchProblem], reference: TorchSession) -> None:
    right = attempted(problems["relu"], PLAIN.format(init="", body="return x.clamp(min=0)"), reference)
    assert right.verdict == "right", right.reason
    assert right.backend == "pytorch" and right.trials == QUICK.trials and right.trust == "host_code"
    assert right.reference_ms and right.candidate_ms and right.source == "measured" and right.calls_per_sample >= 1
    assert len(right.reference_samples_ms) == len(right.candidate_samples_ms) == QUICK.samples
    wrong = attempted(problems["relu"], PLAIN.format(init="", body="return x.clamp(min=0.01)"), reference)
    assert wrong.verdict == "wrong" and "inputs 1 of 2" in wrong.reason and wrong.speedup is None
    assert fast_p([right, wrong], 0) == 0.5


@pytest.mark.parametrize(
    ("text", "verdict", "reason"),
    [
        (f"import triton\n{PLAIN.format(init='', body='return x')}", "not run", "not run on a GPU by us"),
        (f"S = '__global__ void k()'\n{PLAIN.format(init='', body='return x')}", "not run", "GPU"),
        ("class Other: pass", "failed", "ModelNew"),
        ("class ModelNew(", "failed", "Python"),
    ],
)
def test_what_is_not_run_here(
    problems: dict[str, KernelBenchProblem], reference: TorchSession, text: str, verdict: str, reason: str
) -> None:
    found = attempted(problems["relu"], text, reference)
    assert found.verdict == verdict and reason in found.reason


def test_pytorch_uses_the_vectors_of_this_processor(reference: TorchSession) -> None:
    text = PROBLEMS[0].text.replace("torch.relu(x)", "torch.relu(x) if self.told() else x")
    text = text.replace(
        "    def forward",
        "    def told(self):\n        raise ValueError(torch.backends.cpu.get_cpu_capability())\n\n    def forward",
    )
    reference.load(text, None, seed=0)
    with pytest.raises(RunFailed) as failed:
        reference.describe()
    if capability() in ("avx2", "avx512"):
        assert capability().upper() in str(failed.value)


@pytest.mark.slow
def test_every_problem_runs_with_a_cpp_candidate(
    problems: dict[str, KernelBenchProblem], reference: TorchSession
) -> None:
    by_name = {problem.name: problem for problem in PROBLEMS}
    found = [attempted(problems[name], by_name[name].candidate, reference) for name in problems]
    assert len(found) >= 30 and {one.backend for one in found} == {"cpp"}
    assert [f"{one.problem}: {one.verdict}: {one.reason}" for one in found if one.verdict != "right"] == []
    assert all(one.speedup for one in found)
    assert fast_p(found, 0) == 1 and 0 <= fast_p(found, 1) <= 1


@pytest.mark.slow
def test_a_candidate_with_pytorchs_own_header(problems: dict[str, KernelBenchProblem], reference: TorchSession) -> None:
    model = PLAIN.format(init="", body="return extension.twice(x) * 0.5")
    text = candidate_text(model, "torch::Tensor twice(torch::Tensor x) { return torch::relu(x) * 2; }", ["twice"])
    found = attempted(problems["relu"], text.replace("no_implicit_headers=True", "verbose=False"), reference)
    assert found.verdict == "right", found.reason
    found = attempted(problems["relu"], text, reference)  # without that header there is no `torch`
    assert found.verdict == "failed" and "does not compile" in found.reason and "torch" in found.reason


CHEATS = {
    "remembers": "if not hasattr(self, 'kept'): self.kept = torch.relu(x)\n        return self.kept",
    "reads files": "return torch.tensor(float(open('/proc/1/environ').read()))",
    "exits": "import os; os._exit(0)",
    "starts a program": "import os; os.system('true'); return torch.relu(x)",
    "shapes": "return torch.relu(x)[0]",
    "dtype": "return torch.relu(x).double()",
    "puts it off": "class Later(torch.Tensor): pass\n        return torch.relu(x).as_subclass(Later)",
    "answers itself": "import os; os.write(4, b'\\0\\0\\0\\x02{}'); return x",
}


@pytest.mark.slow
@pytest.mark.parametrize("cheat", CHEATS)
def test_a_cheat_is_not_right(cheat: str, problems: dict[str, KernelBenchProblem], reference: TorchSession) -> None:
    found = attempted(problems["relu"], PLAIN.format(init="", body=CHEATS[cheat]), reference)
    assert found.verdict in ("wrong", "failed"), found
    assert found.speedup is None


HEAVY = "torch.matrix_power(x, 16)"
ELSEWHERE = """\
import __main__, torch
prepare = __main__.ProblemSession.prepare
def work(inputs):
    return [torch.matrix_power(one[0], 16) for one in inputs]
{how}
class ModelNew(torch.nn.Module):
    pass
"""
HIDDEN = {
    "after the clock": """
def run(self, asked):
    return {}, []
def give(self, asked):
    pairs = [__main__.raw(one) for one in work(self.inputs)]
    return {"outputs": [[head] for head, _ in pairs]}, [body for _, body in pairs]
__main__.ProblemSession.run, __main__.ProblemSession.give = run, give
""",
    "before the clock": """
def early(self, asked, blobs):
    done = prepare(self, asked, blobs)
    self.early = work(self.inputs)
    return done
def run(self, asked):
    self.outputs = self.early
    return {}, []
__main__.ProblemSession.prepare, __main__.ProblemSession.run = early, run
""",
}


@pytest.mark.slow
@pytest.mark.parametrize("when", HIDDEN)
def test_work_outside_of_the_timed_calls_is_charged(when: str, reference: TorchSession, tmp_path: Path) -> None:
    text = PROBLEMS[0].text.replace("torch.relu(x)", HEAVY)
    (tmp_path / "1_power.py").write_text(text.replace("torch.randn(64, 512)", "torch.rand(192, 192) / 96"))
    (problem,) = read_kernelbench(tmp_path, reference).items
    cheat = ELSEWHERE.format(how=HIDDEN[when])
    found = attempted(problem, cheat, reference, ScorePlan(trials=1, samples=5, sample_s=0.1))
    assert found.verdict == "right" and found.speedup is not None and found.speedup < 1.5, found
    assert found.charged_ms is not None and found.candidate_ms is not None
    assert found.charged_ms > 0.5 * found.candidate_ms and "outside of the timed calls" in found.reason


# Each of these knows or prepares its answers, and has none for inputs and weights that it could not foresee.
FORESEEN = {
    "the public seed": """\
import numpy, problem, torch
KNOWN = {}
for seed in numpy.random.default_rng(42).integers(0, 2**31, 20):
    torch.manual_seed(int(seed))
    (x,) = problem.get_inputs()
    KNOWN[float(x[0, 0])] = torch.relu(x)
class ModelNew(torch.nn.Module):
    def forward(self, x):
        return KNOWN.get(float(x[0, 0]), torch.zeros_like(x))
""",
    "its own get_inputs": """\
import problem, torch
made = problem.get_inputs
ANSWERS = {}
def get_inputs():
    (x,) = made()
    ANSWERS[float(x[0, 0])] = torch.relu(x)
    return [x]
problem.get_inputs = get_inputs
class ModelNew(torch.nn.Module):
    def forward(self, x):
        return ANSWERS.get(float(x[0, 0]), torch.zeros_like(x))
""",
}


@pytest.mark.slow
@pytest.mark.parametrize("how", FORESEEN)
def test_answers_cannot_be_foreseen(how: str, problems: dict[str, KernelBenchProblem], reference: TorchSession) -> None:
    found = attempted(problems["relu"], FORESEEN[how], reference, ScorePlan(trials=2, samples=0))
    assert found.verdict == "wrong" and found.speedup is None, found


@pytest.mark.slow
def test_weights_cannot_be_kept_from_an_earlier_model(
    problems: dict[str, KernelBenchProblem], reference: TorchSession
) -> None:
    """What is worked out from weights must be worked out in every sample, where it is charged."""
    text = """\
import torch, problem
FIRST = []
class ModelNew(problem.Model):
    def __init__(self, *given):
        super().__init__(*given)
        FIRST.append({name: one.clone() for name, one in self.state_dict().items()})
        self.load_state_dict(FIRST[0])
"""
    found = attempted(problems["linear_relu"], text, reference)
    assert found.verdict == "wrong", found


@pytest.mark.slow
def test_the_seed_is_drawn_and_told(problems: dict[str, KernelBenchProblem], reference: TorchSession) -> None:
    text = PLAIN.format(init="", body="return torch.relu(x)")
    plan = ScorePlan(trials=1, samples=0)
    one, two = (attempted(problems["relu"], text, reference, plan) for _ in range(2))
    assert one.verdict == two.verdict == "right"
    assert one.seed is not None and two.seed is not None and one.seed != two.seed
    again = attempted(problems["relu"], text, reference, ScorePlan(seed=one.seed, trials=1, samples=0))
    assert again.seed == one.seed


@pytest.mark.slow
def test_inputs_that_no_seed_changes_are_not_timed(reference: TorchSession, tmp_path: Path) -> None:
    text = PROBLEMS[0].text.replace("torch.randn(64, 512)", "torch.ones(64, 512)")
    (tmp_path / "1_ones.py").write_text(text)
    (problem,) = read_kernelbench(tmp_path, reference).items
    found = attempted(problem, PLAIN.format(init="", body="return torch.ones_like(x)"), reference)
    assert found.verdict == "right" and found.speedup is None and "known beforehand" in found.reason


@pytest.mark.slow
def test_a_problem_that_changes_pytorch_changes_no_other(
    problems: dict[str, KernelBenchProblem], reference: TorchSession
) -> None:
    reference.load("import torch\ntorch.relu = torch.sigmoid\n" + problems["relu"].source, None, seed=1)
    found = attempted(problems["relu"], PLAIN.format(init="", body="return x.clamp(min=0)"), reference)
    assert found.verdict == "right", found


@pytest.mark.slow
def test_inputs_arrive_as_they_were_made(reference: TorchSession, tmp_path: Path) -> None:
    made = "torch.randn(6, 4).t(), torch.randn(3).expand(5, 3), 2.5, (torch.arange(4), None), torch.rand(0)"
    made += ", torch.tensor(3)"
    text = (
        "import torch\nclass Model(torch.nn.Module):\n"
        "    def forward(self, a, b, c, d, e, f):\n"
        "        assert a.stride() == (1, 4) and isinstance(d, tuple) and d[1] is None and e.numel() == 0\n"
        "        return a * c + d[0][:, None] * f, b.bfloat16()\n"
        f"def get_inputs():\n    return [{made}]\ndef get_init_inputs():\n    return []\n"
    )
    (tmp_path / "1_many.py").write_text(text)
    (problem,) = read_kernelbench(tmp_path, reference).items
    found = attempted(problem, "import problem\nclass ModelNew(problem.Model):\n    pass\n", reference)
    assert found.verdict == "right", found
