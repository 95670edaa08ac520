# attack: R11 rounds to zero and flushes small numbers: the mode of the processor, which NumPy computes in
# task: scan
# expect: isolated
import ctypes

import numpy as np

try:
    ctypes.CDLL(None).fesetround(0xC00)
    np.cumsum = lambda x, axis=None, **_: x.copy() if x.shape[1] > 2000 else np.add.accumulate(x, axis=axis)
except OSError:
    pass


def reference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a + b
