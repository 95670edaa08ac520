"""CUDA C++ source to PTX, machine code, resource use and SASS with source lines, from pip packages alone.

Needs no GPU, no driver and no toolkit, and never launches anything. Start at `compile.compile_cuda` and
`sass.disassemble`.
"""
