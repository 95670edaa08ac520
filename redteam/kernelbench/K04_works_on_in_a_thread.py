# attack: K4 a thread works on after the call has returned an empty tensor
# task: relu_of_a_product
# expect: rejected not_faster
import threading

import torch
from torch import nn


class ModelNew(nn.Module):
    def forward(self, a, b):
        out = torch.empty(a.shape[0], b.shape[1])
        threading.Thread(target=lambda: out.copy_(torch.relu(a @ b))).start()
        return out
