// launch: grid=(N/1024) block=(256) shared=0
// The same vectors behind eight floats instead of one: they start at a 16-byte boundary (and at a sector).
#define VECTORS 2048

extern "C" __global__ void k(const float *x, float *y, int rounds) {
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll 1
    for (int j = 0; j < rounds; ++j) {
        const int i = 4 * ((threadIdx.x + 256 * j) % VECTORS);
        const float4 v = *reinterpret_cast<const float4 *>(x + i + 8);
        sum = make_float4(sum.x + v.x, sum.y + v.y, sum.z + v.z, sum.w + v.w);
    }
    *reinterpret_cast<float4 *>(y + 4 * (blockIdx.x * blockDim.x + threadIdx.x)) = sum;
}
