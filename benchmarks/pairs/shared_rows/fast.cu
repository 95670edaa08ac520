// launch: grid=(N/4096) block=(128) shared=0
#define WIDE 32
#define PITCH (WIDE + 1)

extern "C" __global__ void k(const float *x, float *y) {
    __shared__ float rows[128 * PITCH];
    const int t = threadIdx.x;
    for (int r = t / WIDE; r < 128; r += 128 / WIDE)
        rows[r * PITCH + t % WIDE] = x[(blockIdx.x * 128 + r) * WIDE + t % WIDE];
    __syncthreads();
    float sum = 0.0f;
#pragma unroll 1
    for (int round = 0; round < 16; ++round)
        for (int j = 0; j < WIDE; ++j) sum = sum * 0.5f + rows[t * PITCH + (j ^ round)];  // along its own row
    y[blockIdx.x * 128 + t] = sum;
}
