// launch: grid=(ceil(W/2*C/4/128), H/2, N) block=(128)
// Lanes go along the channels, four in a load.
extern "C" __global__ void max_pool(const float* __restrict__ x, float* __restrict__ y, int N, int H, int W, int C) {
    int quads = C / 4, across = W / 2 * quads, i = blockIdx.x * 128 + threadIdx.x;
    if (i >= across) return;
    int w = i / quads, q = i - w * quads, row = blockIdx.z * H + blockIdx.y * 2;
    const float4* from = reinterpret_cast<const float4*>(x) + ((size_t)row * W + w * 2) * quads + q;
    float4 a = from[0], b = from[quads], c = from[W * quads], d = from[(W + 1) * quads];
    float4 top = {fmaxf(fmaxf(a.x, b.x), fmaxf(c.x, d.x)), fmaxf(fmaxf(a.y, b.y), fmaxf(c.y, d.y)),
                  fmaxf(fmaxf(a.z, b.z), fmaxf(c.z, d.z)), fmaxf(fmaxf(a.w, b.w), fmaxf(c.w, d.w))};
    reinterpret_cast<float4*>(y)[((size_t)blockIdx.z * (H / 2) + blockIdx.y) * across + i] = top;
}
