# attack: K8 computes in bfloat16 what is asked for in float32
# task: relu_of_a_product
# expect: rejected not_faster
import torch
from torch import nn


class ModelNew(nn.Module):
    def forward(self, a, b):
        return torch.relu((a.bfloat16() @ b.bfloat16()).float())
