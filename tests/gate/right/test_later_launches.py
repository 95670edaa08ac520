"""A kernel is launched again and again: variables of its module keep their values, and it must be right every time."""

from __future__ import annotations

from tests.gate.right.candidates import INDEX, PER_ELEMENT, VECTOR_ADD, checked

from warpsight.gate.repeat import ONLY_FIRST

ADD = "if (i < N) c[i] = a[i] + b[i];"


def with_variable(declared: str, body: str) -> str:
    return f"{PER_ELEMENT}{declared}\n{VECTOR_ADD} {{ {INDEX} {body} }}\n"


def test_a_kernel_that_counts_its_launches_is_wrong_from_the_second_on() -> None:
    text = with_variable(
        "__device__ unsigned launches;", f"if (atomicAdd(&launches, 1) >= gridDim.x * 256) return; {ADD}"
    )
    found = checked("vector_add", text)
    assert found.verdict == "wrong" and found.workloads[0].detail.endswith(ONLY_FIRST)


def test_a_counter_that_is_put_back_is_right() -> None:
    found = checked(
        "vector_add", with_variable("__device__ unsigned done;", f"atomicInc(&done, gridDim.x * 256 - 1); {ADD}")
    )
    assert found.verdict == "right"


def test_a_variable_with_the_name_of_an_argument_is_no_part_of_it() -> None:
    text = with_variable("__device__ float a[64];", f"::a[threadIdx.x % 64] = 1.0f; {ADD}")
    assert checked("vector_add", text).verdict == "right"


def test_what_was_discarded_is_not_there() -> None:
    discard = 'asm volatile("discard.global.L2 [%0], 128;" :: "l"(c + i) : "memory");'
    guarded = f"if (threadIdx.x % 32 == 0 && i + 32 <= N) {discard}"
    found = checked("vector_add", with_variable("", f"{ADD} __syncwarp(); {guarded}"))
    assert found.verdict == "wrong" and found.named == "wrong_values"
