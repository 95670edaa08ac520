// launch: grid=(N/64) block=(64) shared=0
#define SLICE 64

// Each round waits for its slice to arrive, then works on it: loads and arithmetic take turns.
extern "C" __global__ void k(const float *x, float *y, int rounds) {
    __shared__ __align__(16) float slice[SLICE * 4];
    const int t = threadIdx.x;
    const float *from = x + (size_t)blockIdx.x * rounds * SLICE * 4;
    float sum = 0.0f;
    for (int r = 0; r < rounds; ++r) {
        *reinterpret_cast<float4 *>(&slice[4 * t]) = *reinterpret_cast<const float4 *>(from + r * SLICE * 4 + 4 * t);
        __syncthreads();
#pragma unroll 16
        for (int j = 0; j < SLICE; ++j) sum = sum * 0.5f + slice[(4 * j + t) % (SLICE * 4)];
        __syncthreads();
    }
    y[blockIdx.x * SLICE + t] = sum;
}
