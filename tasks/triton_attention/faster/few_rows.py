# launch: grid=(cdiv(S, BM), H) num_warps=4 num_stages=3
# constants: BM=16 BN=128 WIDTH=64
import triton
import triton.language as tl


@triton.jit
def attention(q, k, v, o, scale, S, BM: tl.constexpr, BN: tl.constexpr, WIDTH: tl.constexpr):
    head = tl.program_id(1).to(tl.int64) * S * WIDTH
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    width = tl.arange(0, WIDTH)
    places = rows[:, None] * WIDTH + width[None, :]
    query = tl.load(q + head + places, mask=rows[:, None] < S, other=0.0)
    greatest = tl.full([BM], float("-inf"), tl.float32)
    weight = tl.zeros([BM], tl.float32)
    total = tl.zeros([BM, WIDTH], tl.float32)
    for start in range(0, S, BN):
        keys = start + tl.arange(0, BN)
        # Keys are read as columns, so that the product below needs no transpose.
        key = tl.load(k + head + keys[None, :] * WIDTH + width[:, None], mask=keys[None, :] < S, other=0.0)
        scores = tl.dot(query, key) * (scale * 1.4426950408889634)
        scores = tl.where(keys[None, :] < S, scores, float("-inf"))
        now = tl.maximum(greatest, tl.max(scores, axis=1))
        fresh = tl.exp2(scores - now[:, None])
        shrink = tl.exp2(greatest - now)
        weight = weight * shrink + tl.sum(fresh, axis=1)
        value = tl.load(v + head + keys[:, None] * WIDTH + width[None, :], mask=keys[:, None] < S, other=0.0)
        total = tl.dot(fresh.to(tl.float16), value, total * shrink[:, None])
        greatest = now
    tl.store(o + head + places, (total / weight[:, None]).to(tl.float16), mask=rows[:, None] < S)
