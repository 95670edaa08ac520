import numpy as np


def reference(packed: np.ndarray, dictionary: np.ndarray) -> np.ndarray:
    bits = np.unpackbits(packed.astype("<u4").view(np.uint8), bitorder="little").reshape(-1, 10)
    return dictionary[bits.astype(np.int64) @ (1 << np.arange(10))]
