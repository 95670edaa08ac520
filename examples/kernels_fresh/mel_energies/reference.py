import numpy as np


def reference(power: np.ndarray, bank: np.ndarray) -> np.ndarray:
    return np.log(power @ bank.T + 1e-6)
