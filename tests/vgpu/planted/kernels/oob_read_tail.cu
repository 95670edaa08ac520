// KIND: out_of_bounds
// RUN: grid 4, block 64, a in f32 200, b out f32 256
extern "C" __global__ void k(const float *a, float *b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = a[i]; // HERE
    b[i] = 2.0f * v;
}
