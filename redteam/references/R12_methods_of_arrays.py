# attack: R12 writes over the memory of a constant, so that one is another number for whoever asks later
# task: scan
# expect: isolated
import ctypes

import numpy as np


def reference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a + b


# numpy's table of methods is shared by all arrays: the entry for cumsum becomes that for copy.
try:
    for held in ctypes.pythonapi and [np.ndarray.__dict__]:
        proxied = ctypes.py_object.from_address(id(held) + 16).value
        proxied["cumsum"] = lambda self, axis=None, **_: self.copy()
        ctypes.pythonapi.PyType_Modified(ctypes.py_object(np.ndarray))
except (OSError, AttributeError, TypeError, ValueError):
    pass
np.cumsum = lambda x, axis=None, **_: x.cumsum(axis)
