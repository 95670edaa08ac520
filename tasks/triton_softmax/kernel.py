# launch: grid=(R) num_warps=4
# constants: BLOCK=1024
import triton
import triton.language as tl


@triton.jit
def softmax(x, y, C, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * C
    columns = tl.arange(0, BLOCK)
    greatest = tl.full([BLOCK], float("-inf"), tl.float32)
    for start in range(0, C, BLOCK):
        at = start + columns
        greatest = tl.maximum(greatest, tl.load(x + row + at, mask=at < C, other=float("-inf")))
    top = tl.max(greatest, axis=0)
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, C, BLOCK):
        at = start + columns
        total += tl.exp(tl.load(x + row + at, mask=at < C, other=float("-inf")) - top)
    scale = 1.0 / tl.sum(total, axis=0)
    for start in range(0, C, BLOCK):
        at = start + columns
        value = tl.exp(tl.load(x + row + at, mask=at < C, other=float("-inf")) - top)
        tl.store(y + row + at, value * scale, mask=at < C)
