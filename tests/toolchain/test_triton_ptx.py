"""Triton's PTX made into one whose parameters are the task's arguments and whose lines are the kernel's."""

from __future__ import annotations

import pytest

from warpsight.toolchain.triton_ptx import BadPtx, tidy

PTX = """
.version 9.0
.target sm_80
.visible .entry scale(
	.param .u64 .ptr .global .align 1 scale_param_0,
	.param .u32 scale_param_1,
	.param .u64 .ptr .global .align 1 scale_param_2,
	.param .u64 .ptr .global .align 1 scale_param_3
)
.reqntid 128
{
	.loc	2 7 12
	ld.param.b64 	%rd1, [scale_param_0];
	.loc	1 290 4, function_name $L__info_string0, inlined_at 2 9 3
	add.f32 %f1, %f2, %f3;
	ret;
}
	.file	1 "/home/someone/site-packages/triton/language/standard.py"
	.file	2 "/tmp/scratch/kernel.py"
"""


def tidied(ptx: str = PTX, parameters: int = 2) -> str:
    return tidy(ptx, entry="scale", parameters=parameters, file="/warpsight/kernel.py")


def test_unused_scratch_pointers_are_taken_off() -> None:
    found = tidied()
    assert "scale_param_1" in found and "scale_param_2" not in found and "scale_param_3" not in found


def test_a_scratch_pointer_that_is_used_is_refused() -> None:
    used = PTX.replace("ret;", "ld.param.b64 %rd2, [scale_param_2];\n\tret;")
    with pytest.raises(BadPtx, match="scratch"):
        tidied(used)


def test_a_kernel_of_too_few_parameters_is_refused() -> None:
    with pytest.raises(BadPtx, match="at least 5"):
        tidied(parameters=5)


def test_the_kernel_s_file_becomes_number_one_and_no_path_of_the_machine_is_left() -> None:
    found = tidied()
    assert '.file\t1 "/warpsight/kernel.py"' in found
    assert '.file\t2 "triton/language/standard.py"' in found
    assert ".loc\t1 7 12" in found
    assert ".loc\t2 290 4, function_name $L__info_string0, inlined_at 1 9 3" in found
    assert "/home/" not in found and "/tmp/" not in found


def test_lines_inside_inline_assembly_are_those_before_it() -> None:
    inline = (
        "// begin inline asm\n\t.loc\t2 7 12\n\tmov.u32 %r1, 0x0;\n\t.loc\t2 8 12\n\tbar.sync 0;\n\t// end inline asm"
    )
    found = tidied(PTX.replace("ret;", f"{inline}\n\tret;"))
    assert ".loc\t1 8 12" not in found and "mov.u32 %r1, 0x0;" in found and "bar.sync 0;" in found


@pytest.mark.parametrize("ptx", ["", "no PTX at all", PTX.replace("entry scale(", "entry other("), PTX + PTX])
def test_anything_but_one_kernel_of_that_name_is_refused(ptx: str) -> None:
    with pytest.raises(BadPtx):
        tidied(ptx)
