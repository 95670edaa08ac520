"""flashinfer-trace: definitions, solutions, workloads and traces of kernels as JSON, read and written.

Start at `read.read_flashinfer` and `write.write_trace_set`; `convert` makes a task of a definition where that is
possible.
"""
