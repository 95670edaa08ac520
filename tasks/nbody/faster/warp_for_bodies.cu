// launch: grid=(ceil(N/4)) block=(128) shared=0
#define WARPS 4
#define EACH 1

// A warp has two bodies: its lanes share out the others, and add up what they found. Many warps instead of few threads.
extern "C" __global__ void nbody(const float4* __restrict__ bodies, float* __restrict__ acc, float soft, int N) {
    int lane = threadIdx.x % 32;
    int first = (blockIdx.x * WARPS + threadIdx.x / 32) * EACH;
    float4 me[EACH];
    float ax[EACH] = {}, ay[EACH] = {}, az[EACH] = {};
#pragma unroll
    for (int e = 0; e < EACH; ++e) {
        me[e] = bodies[min(first + e, N - 1)];
    }
#pragma unroll 4
    for (int j = lane; j < N; j += 32) {
        float4 other = bodies[j];
#pragma unroll
        for (int e = 0; e < EACH; ++e) {
            float dx = other.x - me[e].x, dy = other.y - me[e].y, dz = other.z - me[e].z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + soft);
            float pull = other.w * inverse * inverse * inverse;
            ax[e] += pull * dx;
            ay[e] += pull * dy;
            az[e] += pull * dz;
        }
    }
#pragma unroll
    for (int e = 0; e < EACH; ++e) {
#pragma unroll
        for (int step = 16; step > 0; step /= 2) {
            ax[e] += __shfl_down_sync(0xffffffffu, ax[e], step);
            ay[e] += __shfl_down_sync(0xffffffffu, ay[e], step);
            az[e] += __shfl_down_sync(0xffffffffu, az[e], step);
        }
        if (lane == 0 && first + e < N) {
            acc[3 * (first + e) + 0] = ax[e];
            acc[3 * (first + e) + 1] = ay[e];
            acc[3 * (first + e) + 2] = az[e];
        }
    }
}
