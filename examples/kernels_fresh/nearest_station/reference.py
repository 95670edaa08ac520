import numpy as np


def reference(lat: np.ndarray, lon: np.ndarray, slat: np.ndarray, slon: np.ndarray) -> np.ndarray:
    a = np.sin((slat - lat[:, None]) / 2) ** 2
    b = np.cos(lat[:, None]) * np.cos(slat) * np.sin((slon - lon[:, None]) / 2) ** 2
    return (2 * 6371 * np.arcsin(np.sqrt(np.minimum(a + b, 1)))).min(1)
