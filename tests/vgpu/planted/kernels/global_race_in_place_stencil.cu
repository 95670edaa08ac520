// KIND: global_race
// RUN: grid 4, block 32, a rw f32 128
extern "C" __global__ void k(float *a) {
    int i = blockIdx.x * 32 + threadIdx.x;
    float right = i + 1 < 128 ? a[i + 1] : 0.0f; // HERE
    a[i] = 0.5f * right; // HERE
}
