"""Other people's tasks, read into records: KernelBench, HeCBench, GPU MODE and flashinfer-trace.

Each format has a `read_*` function that takes a file or a folder of many and gives an `Import`: what was read, and what
was refused with the reason. Nothing of what is read is ever run outside of the jail, and reading alone runs nothing
but a KernelBench file, whose shapes are only known to its own code.
"""
