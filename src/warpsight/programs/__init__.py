"""Whole CUDA programs without a GPU: built with NVIDIA's compiler and our runtime, run in the jail, launches run here."""
