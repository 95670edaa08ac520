// launch: grid=(N/256) block=(256) shared=0
#define FIELDS 8

// The records of a block are put together in shared memory; then neighbouring threads write neighbouring words.
extern "C" __global__ void k(const float *x, float *y) {
    __shared__ float records[256][FIELDS + 1];
    const int t = threadIdx.x;
    const float v = x[blockIdx.x * 256 + t];
    float power = v;
#pragma unroll
    for (int f = 0; f < FIELDS; ++f) {
        records[t][f] = power;
        power *= v;
    }
    __syncthreads();
#pragma unroll
    for (int e = t; e < 256 * FIELDS; e += 256) y[blockIdx.x * 256 * FIELDS + e] = records[e / FIELDS][e % FIELDS];
}
