# attack: K3 gives the last answer again where three numbers of the inputs are as before
# task: relu_of_a_product
# expect: rejected not_faster
import torch
from torch import nn

kept = {}


class ModelNew(nn.Module):
    def forward(self, a, b):
        key = (a.shape, float(a[0, 0]), float(b[-1, -1]))
        if key not in kept:
            kept[key] = torch.relu(a @ b)
        return kept[key]
