"""Tasks: what a kernel must compute, on what inputs, how exactly; read, checked and generated here.

Knows nothing of compilers and devices. The verbs below are the whole surface.
"""

import ml_dtypes  # noqa: F401  # pyright: ignore[reportUnusedImport]  NumPy knows bfloat16 and the 8-bit floats from here on

from warpsight.tasks.candidate import (
    LaunchSize,
    evaluate_launch,
    kernel_name,
    language_of,
    launch_of,
    read_candidate,
    written_in,
)
from warpsight.tasks.compare import Comparison, compare
from warpsight.tasks.inputs import generate_inputs
from warpsight.tasks.read import read_task
from warpsight.tasks.reference import run_reference
from warpsight.tasks.shapes import shape_of

__all__ = [
    "Comparison",
    "LaunchSize",
    "compare",
    "evaluate_launch",
    "generate_inputs",
    "kernel_name",
    "language_of",
    "launch_of",
    "read_candidate",
    "read_task",
    "run_reference",
    "shape_of",
    "written_in",
]
