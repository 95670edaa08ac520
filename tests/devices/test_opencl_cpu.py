"""A processor that PoCL's compiler is too old to know gets the name of one with the same instructions."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from warpsight.devices import opencl_cpu
from warpsight.devices.opencl_cpu import RELATIVES, relative_of

AVX512 = "avx512f avx512bw avx512cd avx512dq avx512vl avx2 fma bmi1 bmi2 f16c movbe avx sse4_2 popcnt"


@pytest.mark.parametrize(
    ("flags", "name"),
    [
        (AVX512, "skylake-avx512"),
        (AVX512.replace("avx512vl ", ""), "haswell"),
        ("avx sse4_2 popcnt avx2", "sandybridge"),
        ("sse2", "x86-64"),
        ("", "x86-64"),
    ],
)
def test_the_newest_relative_without_an_instruction_that_is_missing(flags: str, name: str) -> None:
    assert relative_of(flags.split()) == name


@pytest.mark.parametrize("name", [name for name, _ in RELATIVES])
def test_pocl_takes_each_name_for_the_processor_it_does_not_know(name: str) -> None:
    """In a process of its own: PoCL's function is made to say `generic` first, as it does on newer processors."""
    pytest.importorskip("pyopencl")
    source = f"""
import sys
sys.path.insert(0, {str(Path(opencl_cpu.__file__).parent)!r})
import opencl_cpu as cpu, ctypes
library = cpu._pocl()
function = library.pocl_get_llvm_cpu_name
function.restype = ctypes.c_char_p
cpu._replace(ctypes.cast(function, ctypes.c_void_p).value, "generic")
assert function() == b"generic"
assert cpu.name_the_processor({name!r})
assert not cpu.name_the_processor({name!r}), "a name that is known is left alone"
print(function().decode())
"""
    if opencl_cpu.platform.machine() != "x86_64":
        pytest.skip("only x86 processors are named")
    argv = [sys.executable, "-I", "-c", source]
    ended = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.stdout.strip(), ended.returncode) == (name, 0), ended.stderr
