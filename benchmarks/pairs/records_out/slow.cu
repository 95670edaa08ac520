// launch: grid=(N/256) block=(256) shared=0
#define FIELDS 8

// Each thread writes its record, one field after the other.
extern "C" __global__ void k(const float *x, float *y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float v = x[i];
    float power = v;
#pragma unroll
    for (int f = 0; f < FIELDS; ++f) {
        y[i * FIELDS + f] = power;
        power *= v;
    }
}
