// KIND: misaligned
// RUN: grid 1, block 32, y out f64 32
extern "C" __global__ void k(double *y) {
    __shared__ __align__(8) char raw[512];
    raw[threadIdx.x] = 0;
    double *d = (double *)(raw + 4);
    d[threadIdx.x] = 1.0; // HERE
    y[threadIdx.x] = d[threadIdx.x];
}
