"""Names of kernels with their template arguments, so that instances can be told apart."""

from __future__ import annotations

import pytest

from warpsight.vgpu.symbols import MOST, kernel_title


@pytest.mark.parametrize(
    ("symbol", "title"),
    [
        ("_Z5saxpyifPKfPf", "saxpy"),
        ("_Z3addIfEvPT_", "add<float>"),
        ("_Z3addILi16ELi8EEvPfPKcPKfii", "add<16, 8>"),
        ("_ZN2ns1kILb1EPKdEEvv", "k<true, double const*>"),
        ("_Z1kILin3EEvv", "k<-3>"),
        ("_Z1kI6__halfEvv", "k<__half>"),
        ("_Z1kIN4cuda3stdEEvv", "k"),
        ("plain", "plain"),
        ("_Z", "_Z"),
        ("_Z1kI", "k<>"),
    ],
)
def test_a_title_tells_instances_apart(symbol: str, title: str) -> None:
    assert kernel_title(symbol) == title


def test_a_long_one_is_cut() -> None:
    assert len(kernel_title("_Z1kI" + "i" * 100 + "Evv")) == MOST
