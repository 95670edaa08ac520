// KIND: shared_race
// RUN: grid 1, block 32, x in f32 32, y out f32 1
extern "C" __global__ void k(const float *x, float *y) {
    __shared__ float s[32];
    int lane = threadIdx.x;
    s[lane] = x[lane];
    __syncwarp();
    if (lane < 16) s[lane] += s[lane + 16];
    if (lane < 8) s[lane] += s[lane + 8]; // HERE
    __syncwarp();
    if (lane == 0) y[0] = s[0];
}
