"""Warpsight: run, check and count CUDA kernels on a machine without a GPU.

Importing the package loads nothing; each part is imported by its own name, such as `warpsight.toolchain.compile`.
"""

__version__ = "0.1.0"
