# attack: K5 asks for more threads than it was given
# task: relu_of_a_product
# expect: rejected not_faster
import torch
from torch import nn

torch.set_num_threads(2)


class ModelNew(nn.Module):
    def forward(self, a, b):
        torch.set_num_threads(2)
        return torch.relu(a @ b)
