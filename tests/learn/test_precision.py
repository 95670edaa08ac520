"""Half precision only where the processor has instructions for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsight.models.precision import fast_precision


@pytest.mark.parametrize(
    ("flags", "wanted"),
    [("fma avx avx2", "float32"), ("avx2 avx512f", "float32"), ("avx512f avx512_bf16", "bfloat16"), ("", "float32")],
)
def test_by_the_flags_of_the_processor(tmp_path: Path, flags: str, wanted: str) -> None:
    file = tmp_path / "cpuinfo"
    file.write_text(f"processor : 0\nflags : {flags}\n")
    assert fast_precision(cpuinfo=file) == wanted


def test_a_gpu_has_them_and_an_unknown_machine_is_not_guessed_at(tmp_path: Path) -> None:
    assert fast_precision(cpu=False) == "bfloat16"
    assert fast_precision(cpuinfo=tmp_path / "none") == "float32"
