"""Reads NVIDIA machine code files: the ELF around the code, and what each kernel in it needs of the machine."""
