// launch: grid=(N/1024) block=(256) shared=0
// The vectors start one float past a 16-byte boundary: they have to be read in pieces. Each block goes over the same
// 32 KiB again and again, so the data comes from L1 and the requests decide.
#define VECTORS 2048

extern "C" __global__ void k(const float *x, float *y, int rounds) {
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll 1
    for (int j = 0; j < rounds; ++j) {
        const int i = 4 * ((threadIdx.x + 256 * j) % VECTORS);
        const float a = x[i + 1], b = x[i + 2], c = x[i + 3], d = x[i + 4];
        sum = make_float4(sum.x + a, sum.y + b, sum.z + c, sum.w + d);
    }
    *reinterpret_cast<float4 *>(y + 4 * (blockIdx.x * blockDim.x + threadIdx.x)) = sum;
}
