# attack: K1 makes the inputs of the public seed again while it is imported, and knows the answers
# task: relu_of_a_product
# expect: rejected not_faster
import torch
from torch import nn

known = {}
kept = torch.random.get_rng_state()
# One stream from the public seed, and a seed for each call after it: whichever way inputs are drawn.
for seed, draws in ((42, 150), *((seed, 1) for seed in range(43, 243))):
    torch.manual_seed(seed)
    for _ in range(draws):
        a, b = torch.randn(384, 384), torch.randn(384, 384)
        known[float(a[0, 0])] = torch.relu(a @ b)
torch.random.set_rng_state(kept)


class ModelNew(nn.Module):
    def forward(self, a, b):
        found = known.get(float(a[0, 0]))
        return torch.relu(a @ b) if found is None else found
