// KIND: uninitialised_read
// RUN: grid 1, block 64, x in f32 64, y out f32 64
extern "C" __global__ void k(const float *x, float *y) {
    __shared__ float tile[66];
    int t = threadIdx.x;
    tile[t + 1] = x[t];
    __syncthreads();
    float l = tile[t]; // HERE
    float c = tile[t + 1];
    y[t] = l + c;
}
