// launch: grid=(N/256) block=(256) shared=0
// One item in eight has work to do, anywhere among its neighbours.
extern "C" __global__ void k(const unsigned char *active, const float *x, float *y) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    float v = x[i];
    if (active[i]) {
#pragma unroll 8
        for (int r = 0; r < 512; ++r) v = v * 0.99f + 0.01f;
    }
    y[i] = v;
}
