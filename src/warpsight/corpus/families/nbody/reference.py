import numpy as np


def reference(bodies):
    place, mass = bodies[:, :3], bodies[:, 3]
    away = place[None, :, :] - place[:, None, :]
    square = (away**2).sum(axis=2) + 0.01
    weight = mass[None, :] / square**1.5
    pull = (away * weight[:, :, None]).sum(axis=1)
    return np.concatenate([pull, np.zeros((len(bodies), 1))], axis=1)
