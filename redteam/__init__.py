"""Attacks on the gate, as real code: kernels and workers that try to be scored without doing the work."""
