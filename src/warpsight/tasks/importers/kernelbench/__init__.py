"""KernelBench problem files: a PyTorch `Model` with its inputs, and candidates called `ModelNew` that must match it.

Both are programs of strangers, so both run in the jail alone, on the CPU. Start at `problem.read_kernelbench` and
`evaluate.evaluate_candidate`.
"""
