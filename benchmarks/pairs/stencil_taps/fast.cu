// launch: grid=(N/32, N/8) block=(32, 8) shared=0
#define RADIUS 4
#define WIDE (32 + 2 * RADIUS)
#define HIGH (8 + 2 * RADIUS)

extern "C" __global__ void k(const float *x, float *y, int n) {  // x has a frame of RADIUS on every side
    __shared__ float tile[HIGH][WIDE];
    const int pitch = n + 2 * RADIUS;
    const int c0 = blockIdx.x * 32, r0 = blockIdx.y * 8;
    for (int e = threadIdx.y * 32 + threadIdx.x; e < HIGH * WIDE; e += 256)
        tile[e / WIDE][e % WIDE] = x[(r0 + e / WIDE) * pitch + c0 + e % WIDE];
    __syncthreads();
    float sum = 0.0f;
    for (int dr = 0; dr <= 2 * RADIUS; ++dr)
        for (int dc = 0; dc <= 2 * RADIUS; ++dc) sum += tile[threadIdx.y + dr][threadIdx.x + dc];
    y[(r0 + threadIdx.y) * n + c0 + threadIdx.x] = sum;
}
