// launch: grid=(ceil(B/4)) block=(32, 4)
// A warp for each bag, four columns in each load; the rows of a bag are in flight together.
extern "C" __global__ void embedding_bag(const float* __restrict__ table, const int* __restrict__ index,
                                         float* __restrict__ out, int B, int L, int D) {
    int b = blockIdx.x * 4 + threadIdx.y;
    if (b >= B) return;
    const int* bag = index + (size_t)b * L;
    float scale = 1.0f / L;
    for (int d = threadIdx.x * 4; d < D; d += 128) {
        float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll 8
        for (int l = 0; l < L; ++l) {
            float4 v = *reinterpret_cast<const float4*>(table + (size_t)bag[l] * D + d);
            sum.x += v.x;
            sum.y += v.y;
            sum.z += v.z;
            sum.w += v.w;
        }
        *reinterpret_cast<float4*>(out + (size_t)b * D + d) =
            make_float4(sum.x * scale, sum.y * scale, sum.z * scale, sum.w * scale);
    }
}
