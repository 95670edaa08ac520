# attack: R6 a callback of the garbage collector gives other functions called reference other code
# task: scan
# expect: isolated
import gc
import types

import numpy as np


def reference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a + b


def lie(x):
    return x.copy()


def collected(phase, info):
    for one in gc.get_objects(generation=0):
        if isinstance(one, types.FunctionType) and one.__name__ == "reference" and one is not reference:  # noqa: SIM102
            if one.__code__.co_varnames[:1] == ("x",):
                one.__code__ = lie.__code__


gc.callbacks.append(collected)
gc.set_threshold(40, 10, 10)
