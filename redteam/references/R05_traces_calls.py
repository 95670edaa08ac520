# attack: R5 traces every call: when reference of another task begins, its input is changed in place
# task: softmax
# expect: isolated
import sys
import threading

import numpy as np


def watch(frame, event, argument):
    if event == "call" and frame.f_code.co_name == "reference" and frame.f_code.co_varnames[:1] == ("x",):
        x = frame.f_locals["x"]
        try:
            x.setflags(write=True)
        except ValueError:
            return
        x[:] = np.log1p(np.abs(x))


sys.setprofile(watch)
threading.setprofile(watch)


def reference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    sys.setprofile(watch)
    return a + b
