import numpy as np

STEPS = 16


def uniform(h: np.ndarray) -> np.ndarray:
    h = h ^ (h >> 16)
    h = h * np.uint32(0x85EBCA6B)
    h = h ^ (h >> 13)
    h = h * np.uint32(0xC2B2AE35)
    h = h ^ (h >> 16)
    return ((h >> 8) + 0.5) / 2**24


def reference(
    spot: np.ndarray, strike: np.ndarray, price: np.ndarray, rate: float, volatility: float, P: int
) -> np.ndarray:
    options = len(price)  # `price` starts as zeros
    counter = np.arange(options * P * STEPS, dtype=np.uint32).reshape(options, P, STEPS // 2, 2)
    u, v = uniform(counter[..., 0]), uniform(counter[..., 1])
    radius = np.sqrt(-2 * np.log(u))
    normal = np.stack([radius * np.cos(2 * np.pi * v), radius * np.sin(2 * np.pi * v)], axis=-1)
    growth = (rate - 0.5 * volatility**2) / STEPS + volatility * np.sqrt(1 / STEPS) * normal
    path = np.exp(np.cumsum(growth.reshape(options, P, STEPS), axis=2)).mean(axis=2)
    return np.exp(-rate) * np.maximum(spot[:, None] * path - strike[:, None], 0).mean(axis=1)
