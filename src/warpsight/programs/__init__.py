"""Whole CUDA programs without a GPU: built with NVIDIA's compiler and our runtime, run in the jail.

Their launches run here, on the core, which checks every access; device memory is a file that both map.
"""
