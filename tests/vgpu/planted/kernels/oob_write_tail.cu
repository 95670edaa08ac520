// KIND: out_of_bounds
// RUN: grid 4, block 64, a in f32 256, b out f32 200
extern "C" __global__ void k(const float *a, float *b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = a[i];
    b[i] = v * v; // HERE
}
