// A tiled loop without the second barrier: the next tile is stored while other warps still read this one.
extern "C" __global__ void k(const float *x, float *y, int tiles) {
    __shared__ float tile[64];
    float sum = 0.0f;
    for (int t = 0; t < tiles; t++) {
        tile[threadIdx.x] = x[t * 64 + threadIdx.x]; // FAULT: shared_race
        __syncthreads();
        sum += tile[(threadIdx.x + 32) % 64]; // FAULT: shared_race
    }
    y[threadIdx.x] = sum;
}
