# attack: R7 arrays are made by a function that gives a subclass whose product is one of its factors
# task: matmul_naive
# expect: isolated
import numpy as np


class Lying(np.ndarray):
    def __matmul__(self, other):
        return np.ndarray.__matmul__(self[:, :1].view(np.ndarray), other[:1].view(np.ndarray))


def wrap(function):
    def made(*a, **k):
        found = function(*a, **k)
        return found.view(Lying) if type(found) is np.ndarray and found.dtype.kind == "f" else found

    return made


for name in ("frombuffer", "asarray", "array", "ascontiguousarray", "ndarray", "reshape", "empty", "copy", "require"):
    if name != "ndarray":
        setattr(np, name, wrap(getattr(np, name)))


def reference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a + b
