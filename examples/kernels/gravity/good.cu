// launch: grid=(ceil(N/32)) block=(32, 16)
// A block has 32 bodies; its 16 warps share out the others, which pass through shared memory.
#define WARPS 16
#define CHUNK 512

extern "C" __global__ void gravity(const float* __restrict__ position, const float* __restrict__ mass,
                                   float* __restrict__ acceleration, float soft, int N) {
    __shared__ float4 bodies[CHUNK];
    __shared__ float partial[WARPS][3][32];
    int tid = threadIdx.y * 32 + threadIdx.x;
    int i = blockIdx.x * 32 + threadIdx.x;
    float x = 0, y = 0, z = 0, ax = 0, ay = 0, az = 0;
    if (i < N) {
        x = position[3 * i];
        y = position[3 * i + 1];
        z = position[3 * i + 2];
    }
    for (int start = 0; start < N; start += CHUNK) {
        int j = start + tid;
        float4 body = make_float4(0, 0, 0, 0);  // no mass: adds nothing
        if (j < N) body = make_float4(position[3 * j], position[3 * j + 1], position[3 * j + 2], mass[j]);
        bodies[tid] = body;
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < CHUNK / WARPS; ++k) {
            float4 b = bodies[threadIdx.y * (CHUNK / WARPS) + k];
            float dx = b.x - x, dy = b.y - y, dz = b.z - z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + soft);
            float pull = b.w * inverse * inverse * inverse;
            ax += pull * dx;
            ay += pull * dy;
            az += pull * dz;
        }
        __syncthreads();
    }
    partial[threadIdx.y][0][threadIdx.x] = ax;
    partial[threadIdx.y][1][threadIdx.x] = ay;
    partial[threadIdx.y][2][threadIdx.x] = az;
    __syncthreads();
    if (threadIdx.y < 3 && i < N) {
        float sum = 0;
        for (int w = 0; w < WARPS; ++w) sum += partial[w][threadIdx.y][threadIdx.x];
        acceleration[3 * i + threadIdx.y] = sum;
    }
}
