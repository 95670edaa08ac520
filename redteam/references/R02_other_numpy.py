# attack: R2 puts a module in the place of numpy in sys.modules: what is imported later is this one
# task: scan
# expect: isolated
import sys
import types

import numpy as np

shim = types.ModuleType("numpy")
shim.__dict__.update(np.__dict__)
shim.cumsum = lambda x, axis=None, **_: x.copy()
sys.modules["numpy"] = shim


def reference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a + b
