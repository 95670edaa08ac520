# attack: K2 works while inputs are made: torch.randn computes the answer as soon as both factors are there
# task: relu_of_a_product
# expect: rejected not_faster
import torch
from torch import nn

answers, last = {}, []
_randn = torch.randn


def randn(*sizes, **k):
    made = _randn(*sizes, **k)
    last.append(made)
    if len(last) == 2:
        answers[float(last[0][0, 0])] = torch.relu(last[0] @ last[1])
        last.clear()
    return made


torch.randn = randn


class ModelNew(nn.Module):
    def forward(self, a, b):
        found = answers.pop(float(a[0, 0]), None)
        return torch.relu(a @ b) if found is None else found
