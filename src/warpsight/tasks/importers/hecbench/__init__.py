"""HeCBench programs: a folder with a Makefile, CUDA sources and a self-check, read into a record with its kernels.

Start at `read.read_hecbench`. Reading never runs `make`: the Makefile is read as text. Host code is not compiled unless
`nvcc` is there; without it the device code is cut out and compiled by the project's own toolchain.
"""
