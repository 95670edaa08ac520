"""Kernels kept fast in a repository: a list of them, a baseline that is committed, and a verdict on each change.

Only virtual GPUs: the same change gives the same verdict on every machine, so CI needs no GPU.
"""
