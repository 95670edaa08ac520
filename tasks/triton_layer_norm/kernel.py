# launch: grid=(R) num_warps=4
# constants: BLOCK=1024
import triton
import triton.language as tl


@triton.jit
def layer_norm(x, gamma, beta, y, eps, C, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * C
    columns = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, C, BLOCK):
        at = start + columns
        total += tl.load(x + row + at, mask=at < C, other=0.0)
    mean = tl.sum(total, axis=0) / C
    squares = tl.zeros([BLOCK], tl.float32)
    for start in range(0, C, BLOCK):
        at = start + columns
        away = tl.where(at < C, tl.load(x + row + at, mask=at < C, other=0.0) - mean, 0.0)
        squares += away * away
    scale = 1.0 / tl.sqrt_rn(tl.sum(squares, axis=0) / C + eps)
    for start in range(0, C, BLOCK):
        at = start + columns
        away = tl.load(x + row + at, mask=at < C, other=0.0) - mean
        g = tl.load(gamma + at, mask=at < C, other=0.0)
        b = tl.load(beta + at, mask=at < C, other=0.0)
        tl.store(y + row + at, away * scale * g + b, mask=at < C)
