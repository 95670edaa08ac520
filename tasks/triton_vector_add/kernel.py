# launch: grid=(cdiv(N, BLOCK)) num_warps=4
# constants: BLOCK=1024
import triton
import triton.language as tl


@triton.jit
def vector_add(a, b, c, N, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < N
    x = tl.load(a + at, mask=inside)
    y = tl.load(b + at, mask=inside)
    tl.store(c + at, x + y, mask=inside)
