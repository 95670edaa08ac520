# attack: K7 changes the clock, the generator and the product of the process it is called in
# task: relu_of_a_product
# expect: rejected not_faster
import time

import torch
from torch import nn

start = time.perf_counter()
for name in ("perf_counter", "monotonic", "process_time", "time"):
    setattr(time, name, lambda: start)
for name in ("perf_counter_ns", "monotonic_ns", "process_time_ns", "thread_time_ns"):
    setattr(time, name, lambda: int(start * 1e9))


class ModelNew(nn.Module):
    def forward(self, a, b):
        return torch.relu(a @ b)
