import numpy as np


def reference(rows: np.ndarray, cols: np.ndarray, vals: np.ndarray, x: np.ndarray, M: int) -> np.ndarray:
    y = np.zeros(M)
    row_of_entry = np.repeat(np.arange(M), np.diff(rows))
    np.add.at(y, row_of_entry, vals * x[cols])
    return y
