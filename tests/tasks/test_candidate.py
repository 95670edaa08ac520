"""The launch and options of a candidate are read from its own top lines, and a bad launch is an error with numbers."""

import pytest

from warpsight.errors import TaskError
from warpsight.nouns import Task
from warpsight.tasks import evaluate_launch, read_candidate

BODY = 'extern "C" __global__ void scale_kernel(const float* x, float* y, float alpha, int N) {}\n'


def test_launch_and_options(task: Task) -> None:
    launch = "// launch: grid=(ceil(N/64), 2) block=(8, 4, 2) shared=4*N"
    text = f"// A note.\n\n{launch}\n//options: -DX=1 --use_fast_math\n{BODY}"
    candidate = read_candidate(text, task)
    assert candidate.source == text
    assert candidate.options == ("-DX=1", "--use_fast_math")
    assert evaluate_launch(candidate, {"N": 100}) == ((2, 2, 1), (8, 4, 2), 400)


@pytest.mark.parametrize(
    ("launch", "grid", "block"),
    [
        ("grid=4 block=32", (4, 1, 1), (32, 1, 1)),
        ("block=(32) grid=(N)", (100, 1, 1), (32, 1, 1)),
        ("grid=(N+1)//(2) block=(min(N, 64), 1)", (50, 1, 1), (64, 1, 1)),
        ("grid = (max(N, 2), (3), 4) block = 1", (100, 3, 4), (1, 1, 1)),
    ],
)
def test_ways_to_write_a_launch(task: Task, launch: str, grid: object, block: object) -> None:
    size = evaluate_launch(read_candidate(f"// launch: {launch}\n{BODY}", task), {"N": 100})
    assert (size.grid, size.block, size.shared_bytes) == (grid, block, 0)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        (BODY, "launch"),
        (f"{BODY}// launch: grid=(1) block=(1)\n", "launch"),
        (f"// launch: grid=(1) block=(1)\n// launch: grid=(2) block=(1)\n{BODY}", "launch"),
        (f"// launch:\n{BODY}", "launch"),
        (f"// launch: grid=(1)\n{BODY}", "launch"),
        (f"// launch: stream=1 grid=(1) block=(1)\n{BODY}", "launch"),
        (f"// launch: grid=(1) block=(1) shared=0 stream=1\n{BODY}", "launch.shared"),
        (f"// launch: grid=(1) grid=(2) block=(1)\n{BODY}", "launch.grid"),
        (f"// launch: grid=(1,2,3,4) block=(1)\n{BODY}", "launch.grid"),
        (f"// launch: grid=() block=(1)\n{BODY}", "launch.grid"),
        (f"// launch: grid=(1,,2) block=(1)\n{BODY}", "launch.grid"),
        (f"// launch: grid=(K) block=(1)\n{BODY}", "launch.grid"),
        (f"// launch: grid=(N) block=(__import__('os'))\n{BODY}", "launch.block"),
        (f"// launch: grid=(9**9**9) block=(1)\n{BODY}", "launch.grid"),
        ("// launch: grid=(1) block=(1)\nint other(int x);\n", "entry"),
        (f"// launch: grid=(1) block=(1)\n{BODY}" + " " * 300_000, "source"),
    ],
)
def test_what_is_refused(task: Task, text: str, key: str) -> None:
    with pytest.raises(TaskError) as caught:
        read_candidate(text, task)
    assert caught.value.key == key


@pytest.mark.parametrize(
    ("launch", "key", "number"),
    [
        ("grid=(1) block=(1025)", "launch.block.x", "1025"),
        ("grid=(1) block=(32, 32, 2)", "launch.block", "2048"),
        ("grid=(1) block=(1, 1, 65)", "launch.block.z", "65"),
        ("grid=(1) block=(N - 100)", "launch.block.x", "0"),
        ("grid=(N - 101) block=(1)", "launch.grid.x", "-1"),
        ("grid=(1, 65536) block=(1)", "launch.grid.y", "65536"),
        ("grid=(2147483648) block=(1)", "launch.grid.x", "2147483648"),
        ("grid=(1) block=(1) shared=300000", "launch.shared", "300000"),
        ("grid=(1) block=(1) shared=-4", "launch.shared", "-4"),
        ("grid=(N/3) block=(1)", "launch.grid", "33.33"),
        ("grid=(N/(N - 100)) block=(1)", "launch.grid", "N=100"),
    ],
)
def test_a_bad_launch_is_an_error_with_the_numbers(task: Task, launch: str, key: str, number: str) -> None:
    candidate = read_candidate(f"// launch: {launch}\n{BODY}", task)
    with pytest.raises(TaskError) as caught:
        evaluate_launch(candidate, {"N": 100})
    assert caught.value.key == key
    assert number in caught.value.found
