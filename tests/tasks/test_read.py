"""A task that is wrong is refused with the file, the key, the line, what was expected and what came."""

from pathlib import Path

import pytest

from warpsight.errors import TaskError
from warpsight.tasks import read_task


def change(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))


def test_a_good_task(folder: Path) -> None:
    task = read_task(folder)
    assert task == read_task(folder / "task.toml")
    assert [argument.name for argument in task.arguments] == ["x", "y", "alpha", "N"]
    assert [w.name for w in task.workloads if w.hidden] == ["prime", "block-edge"]
    assert [w.name for w in task.workloads if w.profile] == ["large"]
    assert task.kernel == (folder / "kernel.cu").read_text()


# what is changed in task.toml -> the key and a word of the error
BAD_TOML = [
    ('name = "scale"', 'name = "scale"\nnmae = 1', "nmae", "unknown key"),
    ("[tolerance]", "[tolerance]\nulp = 2", "tolerance.ulp", "unknown key"),
    ('entry = "scale_kernel"\n', "", "entry", "none"),
    ('entry = "scale_kernel"', 'entry = "other"', "entry", "no kernel"),
    ('name = "scale"', 'name = "Scale it"', "name", "Scale it"),
    ('kernel = "kernel.cu"', 'kernel = "missing.cu"', "kernel", "No such file"),
    ('kernel = "kernel.cu"', 'kernel = "../kernel.cu"', "kernel", "../kernel.cu"),
    ('kernel = "kernel.cu"', 'kernel = "kernel.cu', "(syntax)", "line 3"),
    ('arch = "sm_80"', 'arch = "ampere"', "target.arch", "ampere"),
    (
        'dtype = "float32"\nshape = ["N"]\nrole = "in"',
        'dtype = "float"\nshape = ["N"]\nrole = "in"',
        "arguments[0].dtype",
        "'float'",
    ),
    ('role = "in"', 'role = "input"', "arguments[0].role", "input"),
    ('shape = ["N"]\nrole = "in"', 'role = "in"', "arguments[0]", "needs a shape"),
    ('shape = ["N"]', 'shape = ["K"]', "arguments[0].shape[0]", "'K'"),
    ('shape = ["N"]', 'shape = ["N", "N/3"]', "arguments[0]", "333.3"),
    ('shape = ["N"]', 'shape = ["N - 2"]', "arguments[0]", "workload one"),
    ('shape = ["N"]', 'shape = ["N*N*N"]', "arguments[0]", "bytes"),
    ('shape = ["N"]', 'shape = ["__import__(N)"]', "arguments[0].shape[0]", "__import__"),
    ("value = 2.5", "", "arguments[2]", "needs a value"),
    (
        '"float32"\nrole = "scalar"\nvalue = 2.5',
        '"int32"\nrole = "scalar"\nvalue = "N*9999999"',
        "arguments[2]",
        "9999999000",
    ),
    ('"float32"\nrole = "scalar"', '"int32"\nrole = "scalar"', "arguments[2]", "2.5"),
    ('value = "N"', "value = 2.5", "arguments[3].name", "'N'"),
    ('name = "y"', 'name = "x"', "arguments[1].name", "second 'x'"),
    ('name = "x"', 'name = "N"', "arguments[3].name", "second 'N'"),
    ('role = "out"', 'role = "in"', "arguments", "none"),
    ('role = "in"', 'role = "in"\nfill = "integers"\nlow = 0\nhigh = 5', "arguments[0]", "float32"),
    ('role = "in"', 'role = "in"\nfill = "uniform"\nlow = 3.0\nhigh = 1.0', "arguments[0]", "low 3.0"),
    ('role = "in"', 'role = "in"\nfill = "index"\nhigh = "Q"', "arguments[0].high", "'Q'"),
    ("N = { min = 1,", "N = { min = 2,", "workloads[1].axes.N", "1"),
    ("N = { min = 1,", "N = { multiple_of = 4, min = 1,", "workloads[1].axes.N", "1"),
    ("N = { min = 1,", "N = { min = 99999999,", "axes.N", "greater than max"),
    ("N = { min = 1,", "M = { min = 1 }\nN = { min = 1,", "workloads[0].axes.M", "none"),
    ("N = { min = 1,", "min = { min = 1 }\nN = { min = 1,", "axes.min", "'min'"),
    ("N = { min = 1,", "'a b' = { min = 1 }\nN = { min = 1,", "axes.a b.name", "a b"),
    ("axes = { N = 1000 }", "axes = { N = 1000, Q = 1 }", "workloads[0].axes.Q", "'Q'"),
    ("axes = { N = 1000 }", 'axes = { N = "many" }', "workloads[0].axes.N", "many"),
    ('name = "one"', 'name = "small"', "workloads[1].name", "second 'small'"),
    ('name = "one"', 'name = "one"\nprofile = true', "workloads[2].profile", "2"),
    ("rtol = 1e-6", "rtol = -1.0", "tolerance.rtol", "-1.0"),
    ("rtol = 1e-6\n", "", "tolerance.rtol", "none"),
]


@pytest.mark.parametrize(("old", "new", "key", "word"), BAD_TOML, ids=range(len(BAD_TOML)))
def test_a_bad_task_file(folder: Path, old: str, new: str, key: str, word: str) -> None:
    change(folder / "task.toml", old, new)
    with pytest.raises(TaskError) as caught:
        read_task(folder)
    assert caught.value.key == key
    assert word in caught.value.found
    assert str(folder) in caught.value.file


def test_the_line_is_named(folder: Path) -> None:
    change(folder / "task.toml", 'role = "out"', 'role = "outt"')
    with pytest.raises(TaskError) as caught:
        read_task(folder)
    line = (folder / "task.toml").read_text().splitlines().index('role = "outt"') + 1
    assert caught.value.line == line
    assert str(caught.value).startswith(f"{folder / 'task.toml'}:{line}: arguments[1].role: expected ")


def test_hidden_and_visible_workloads_are_both_needed(folder: Path) -> None:
    file = folder / "task.toml"
    text = file.read_text()
    file.write_text(text.replace("hidden = true", "hidden = false"))
    with pytest.raises(TaskError, match="hidden = true"):
        read_task(folder)
    file.write_text(
        text.replace("profile = true\n", "")
        .replace("axes = {", "hidden = true\naxes = {")
        .replace("}\nhidden = true", "}")
    )
    with pytest.raises(TaskError, match="not hidden"):
        read_task(folder)


BAD_KERNELS = [
    ("float alpha, int N", "int N, float alpha", "scale_kernel()", "x, y, N, alpha"),
    ("float alpha, ", "", "scale_kernel()", "x, y, N"),
    ("float alpha", "const float* alpha", "scale_kernel(alpha)", "a pointer"),
    ("float* __restrict__ y", "float y", "scale_kernel(y)", "a value"),
    ('extern "C" ', "", "entry", 'no extern "C"'),
    ("// launch: grid=(ceil(N/256)) block=(256) shared=0\n", "", "launch", "none"),
    ("block=(256)", "block=(N)", "launch.block.x", "1048576"),
    ("ceil(N/256)", "N/256", "launch.grid", "3.90625"),
    ("__global__ void scale_kernel", "__global__ void /* scale_kernel( */ other", "entry", "no kernel"),
]


@pytest.mark.parametrize(("old", "new", "key", "word"), BAD_KERNELS, ids=range(len(BAD_KERNELS)))
def test_a_bad_kernel(folder: Path, old: str, new: str, key: str, word: str) -> None:
    change(folder / "kernel.cu", old, new)
    with pytest.raises(TaskError) as caught:
        read_task(folder)
    assert caught.value.key == key
    assert word in caught.value.found
    assert caught.value.file == str(folder / "kernel.cu")


BAD_REFERENCES = [
    ("def reference", "def oracle", "none"),
    ("x: np.ndarray", "q: np.ndarray", "'q'"),
    ("x: np.ndarray, alpha", "alpha", "no x"),
    ("alpha: float", "*alpha: float", "*args"),
    ("return alpha * x", "return alpha *", "invalid syntax"),
    ("x: np.ndarray", "x: np.ndarray, y: np.ndarray", "'y'"),
]


@pytest.mark.parametrize(("old", "new", "word"), BAD_REFERENCES, ids=range(len(BAD_REFERENCES)))
def test_a_bad_reference(folder: Path, old: str, new: str, word: str) -> None:
    change(folder / "reference.py", old, new)
    with pytest.raises(TaskError) as caught:
        read_task(folder)
    assert caught.value.key == "reference()"
    assert word in caught.value.found
    assert caught.value.file == str(folder / "reference.py")


def test_reading_runs_nothing(folder: Path) -> None:
    marker = folder / "ran"
    with (folder / "reference.py").open("a") as stream:
        stream.write(f"\n\nopen({str(marker)!r}, 'w').close()\n")
    read_task(folder)
    assert not marker.exists()


def test_files_that_are_no_files(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(TaskError, match="No such file"):
        read_task(tmp_path / "nowhere")
    (folder / "kernel.cu").write_bytes(b"\xff\xfe")
    with pytest.raises(TaskError, match="UTF-8"):
        read_task(folder)
    (folder / "kernel.cu").unlink()
    (folder / "kernel.cu").mkdir()
    with pytest.raises(TaskError, match="directory"):
        read_task(folder)
