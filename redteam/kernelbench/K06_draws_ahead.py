# attack: K6 draws ahead from the generator of the process, with its state, and has the next answers ready
# task: relu_of_a_product
# expect: rejected not_faster
import torch
from torch import nn

ready = {}


def look_ahead():
    kept = torch.random.get_rng_state()
    for _ in range(20):
        a, b = torch.randn(384, 384), torch.randn(384, 384)
        ready[float(a[0, 0])] = torch.relu(a @ b)
    torch.random.set_rng_state(kept)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        look_ahead()

    def forward(self, a, b):
        found = ready.get(float(a[0, 0]))
        return torch.relu(a @ b) if found is None else found
