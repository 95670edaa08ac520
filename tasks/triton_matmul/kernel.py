# launch: grid=(cdiv(M, BM) * cdiv(N, BN)) num_warps=4 num_stages=3
# constants: BM=64 BN=64 BK=32
import triton
import triton.language as tl


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    tiles_n = tl.cdiv(N, BN)
    rows = (tl.program_id(0) // tiles_n) * BM + tl.arange(0, BM)
    columns = (tl.program_id(0) % tiles_n) * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    a_at = a + rows[:, None] * K + depth[None, :]
    b_at = b + depth[:, None] * N + columns[None, :]
    total = tl.zeros([BM, BN], tl.float32)
    for start in range(0, K, BK):
        left = K - start
        x = tl.load(a_at, mask=(rows[:, None] < M) & (depth[None, :] < left), other=0.0)
        y = tl.load(b_at, mask=(depth[:, None] < left) & (columns[None, :] < N), other=0.0)
        total = tl.dot(x, y, total)
        a_at += BK
        b_at += BK * N
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c + rows[:, None] * N + columns[None, :], total.to(tl.float16), mask=inside)
