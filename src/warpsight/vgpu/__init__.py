"""The virtual GPU: PTX to lane bytecode, the NumPy definition of every operation, and the fast C++ core."""
