# attack: R4 leaves a thread that looks for functions called reference and gives them other code
# task: scan
# expect: isolated
import gc
import threading
import time
import types

import numpy as np


def reference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a + b


def lie(x):
    return x.copy()


def look():
    while True:
        for one in gc.get_objects():
            if isinstance(one, types.FunctionType) and one.__name__ == "reference" and one is not reference:  # noqa: SIM102
                if one.__code__.co_varnames[:1] == ("x",):
                    one.__code__ = lie.__code__
        time.sleep(0.0005)


threading.Thread(target=look, daemon=True).start()
