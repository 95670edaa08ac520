// launch: grid=(ceil(B/16)) block=(256)
// Sixteen threads for each pair, four outputs of a row each: all loads and stores are wide and side by side, and both
// matrices are shared by the threads of the pair.
extern "C" __global__ void batched_small(const float4* __restrict__ a, const float4* __restrict__ b,
                                         float4* __restrict__ c, int B) {
    __shared__ float4 left[256], right[256];
    int t = threadIdx.x, own = t & ~15;
    size_t at = (size_t)blockIdx.x * 256 + t;
    bool inside = at < (size_t)B * 16;
    if (inside) {
        left[t] = a[at];
        right[t] = b[at];
    }
    __syncwarp();
    if (!inside) return;
    int row = t % 16 / 2, half = t % 2;
    float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll
    for (int k4 = 0; k4 < 2; ++k4) {
        float4 p = left[own + row * 2 + k4];
        float ps[4] = {p.x, p.y, p.z, p.w};
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            float4 q = right[own + (k4 * 4 + k) * 2 + half];
            sum.x += ps[k] * q.x;
            sum.y += ps[k] * q.y;
            sum.z += ps[k] * q.z;
            sum.w += ps[k] * q.w;
        }
    }
    c[at] = sum;
}
