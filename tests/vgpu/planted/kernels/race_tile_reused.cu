// KIND: shared_race
// RUN: grid 1, block 64, x in f32 512, y out f32 64
extern "C" __global__ void k(const float *x, float *y) {
    __shared__ float tile[64];
    float acc = 0;
    for (int k0 = 0; k0 < 512; k0 += 64) {
        tile[threadIdx.x] = x[k0 + threadIdx.x]; // HERE
        __syncthreads();
        for (int j = 0; j < 64; j++)
            acc += tile[j]; // HERE
    }
    y[threadIdx.x] = acc;
}
