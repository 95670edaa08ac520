# attack: R3 changes compile and exec, so that a text which asks for a sum of rows is another text
# task: scan
# expect: isolated
import builtins

import numpy as np

_compile, _exec = builtins.compile, builtins.exec


def altered(text):
    if isinstance(text, (bytes, bytearray)):
        return bytes(text).replace(b"np.cumsum(x, axis=1)", b"x.copy()")
    return text.replace("np.cumsum(x, axis=1)", "x.copy()") if isinstance(text, str) else text


builtins.compile = lambda text, *a, **k: _compile(altered(text), *a, **k)
builtins.exec = lambda text, *a, **k: _exec(altered(text), *a, **k)


def reference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a + b
