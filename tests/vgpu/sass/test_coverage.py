"""The forms that real programs use most are known, what is not known is refused by text and line."""

from __future__ import annotations

import pytest

from warpsight.errors import UnsupportedInstruction
from warpsight.nouns import SassInstruction
from warpsight.vgpu.sass import load_sass
from warpsight.vgpu.sass.coverage import refusal
from warpsight.vgpu.sass.read import read_line, read_operand

FORMS = [
    "IADD3",
    "IADD3.X",
    "IMAD",
    "IMAD.WIDE",
    "IMAD.WIDE.U32.X",
    "IMAD.HI.U32",
    "IMAD.X",
    "IMAD.MOV.U32",
    "LEA",
    "LEA.HI",
    "LEA.HI.X",
    "LEA.HI.X.SX32",
    "LOP3.LUT",
    "PLOP3.LUT",
    "SHF.L.W.U32.HI",
    "SHF.R.S64",
    "ISETP.GE.U32.AND.EX",
    "IMNMX.U32",
    "IABS",
    "FLO.U32.SH",
    "POPC",
    "BREV",
    "BMSK",
    "PRMT",
    "SEL",
    "FSEL",
    "USEL",
    "FFMA.FTZ.RZ",
    "FADD.FTZ.SAT",
    "FMUL.FTZ.D2",
    "FSETP.NAN.FTZ.AND",
    "FSET.BF.LT.FTZ.AND",
    "FMNMX.NAN",
    "FCHK",
    "MUFU.RCP64H",
    "MUFU.TANH",
    "DADD",
    "DFMA.RM",
    "DSETP.MAX.AND",
    "I2F.F64.S64.RM",
    "F2I.U8.F16.TRUNC.NTZ",
    "F2F.BF16.F32",
    "FRND.F64.FLOOR",
    "F2FP.BF16.PACK_AB.RZ",
    "F2FP.RELU.F16.F32.MERGE_C.RZ",
    "F2FP.F16.E4M3.UNPACK_B",
    "F2FP.SATFINITE.E4M3.F32.PACK_AB_MERGE_C",
    "F2FP.SATFINITE.RELU.E5M2.F16.UNPACK_B_MERGE_C",
    "HADD2.F32",
    "HFMA2.BF16_V2",
    "HSETP2.GEU.AND",
    "HSET2.BF.EQ.AND",
    "HMNMX2",
    "HMMA.16816.F32",
    "IDP.4A.U8.U8",
    "VABSDIFF4.U8.ACC",
    "LDG.E.128.CONSTANT",
    "LDL.LU.64",
    "LDS.S16",
    "STG.E.U8.STRONG.SYS",
    "LDGSTS.E.BYPASS.LTC128B.128",
    "DEPBAR.LE",
    "ATOMG.E.CAS.64.STRONG.GPU",
    "ATOMS.CAST.SPIN",
    "ATOMS.POPC.INC.32",
    "RED.E.ADD.F32.FTZ.RN.STRONG.GPU",
    "ATOM.E.ADD.F16x2.RN.STRONG.GPU",
    "SHFL.BFLY",
    "VOTEU.ANY",
    "MATCH.ANY.U64",
    "REDUX.MAX.S32",
    "P2R",
    "R2P",
    "B2R.RESULT",
    "QSPC.E.S",
    "BAR.RED.OR.DEFER_BLOCKING",
    "BRA.DIV",
    "BRA.CONV",
    "BRX",
    "CALL.ABS.NOINC",
    "RET.REL.NODEC",
    "BMOV.32.CLEAR",
    "LEPC",
    "BPT.TRAP",
    "NANOSLEEP",
    "ULDC.S8",
    "UIMAD.WIDE.U32.X",
]


@pytest.mark.parametrize("form", FORMS)
def test_a_form_is_known(form: str) -> None:
    assert refusal(form) is None


@pytest.mark.parametrize(
    "form", ["TEX.SCR.LL", "IADD3.NEWMOD", "FROBNICATE", "MUFU.ACOS", "SHFL.SPIRAL", "F2FP.E4M3.F32.PACK_AB_MERGE_C"]
)
def test_an_unknown_form_is_refused(form: str) -> None:
    assert refusal(form) is not None


def test_a_refusal_names_text_and_line() -> None:
    from tests.vgpu.sass.both import build

    from warpsight.toolchain.sass import disassemble

    made = build('extern "C" __global__ void k(int *p) { p[threadIdx.x] = 1; }', "sm_80")
    code = list(disassemble(made.cubin))
    code[2] = SassInstruction(
        function="k", address=code[2].address, text="TEX.SCR.LL RZ, R4", word_lo=0, word_hi=0, line=1
    )
    with pytest.raises(UnsupportedInstruction, match=r"TEX\.SCR\.LL.*line 1"):
        load_sass(code, made.cubin, "k")


def test_operands_are_read_with_their_modifiers() -> None:
    address = read_operand("desc[UR4][R2.64+-0x10]")
    assert (address.kind, address.base, address.base_mods, address.offset) == ("mem", 2, ("64",), -16)
    scaled = read_operand("[R2.X4+UR5+0x20]")
    assert (scaled.base, scaled.base_mods, scaled.uniform, scaled.offset) == (2, ("X4",), 5, 32)
    assert read_operand("-|c[0x0][0x160]|")[3:6] == (True, False, True)
    assert read_operand("c[0x3][R7+0x8]")[7:9] == (3, 7)
    assert read_operand("~URZ").inverted and read_operand("~URZ").is_zero
    assert read_operand("R4.H0_H0.reuse").mods == ("H0_H0",)


def test_a_line_is_read_with_its_guard() -> None:
    raw = SassInstruction(
        function="k",
        address=16,
        text="@!P3 FFMA.FTZ R0, R1.reuse, 0.5, -R2",
        word_lo=0x3F000000 << 32,
        word_hi=0,
        line=4,
    )
    line = read_line(raw)
    assert line.guard is not None and line.guard.negative and line.guard.number == 3
    assert (line.op, line.mods, line.imm32) == ("FFMA", ("FTZ",), 0x3F000000)
    assert [o.kind for o in line.operands] == ["r", "r", "float", "r"]
