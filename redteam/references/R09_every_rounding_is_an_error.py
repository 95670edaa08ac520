# attack: R9 makes every rounding an error, and numbers print otherwise
# task: softmax
# expect: isolated
import warnings

import numpy as np

np.seterr(all="raise")
np.set_printoptions(precision=1)
np.random.seed(0)
warnings.simplefilter("error")


def reference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a + b
