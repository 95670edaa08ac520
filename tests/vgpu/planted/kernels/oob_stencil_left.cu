// KIND: out_of_bounds
// RUN: grid 1, block 128, u in f32 128, v out f32 128
extern "C" __global__ void k(const float *u, float *v) {
    int i = threadIdx.x;
    float left = u[i - 1]; // HERE
    float right = i < 127 ? u[i + 1] : 0.0f;
    v[i] = 0.5f * (left + right);
}
