// launch: grid=(N/256) block=(256) shared=0
#define TAPS 64

extern "C" __global__ void k(const float *x, const float *w, float *y) {  // x is TAPS longer than y
    const int i = blockIdx.x * 256 + threadIdx.x;
    float sum = 0.0f;
    for (int j = 0; j < TAPS; ++j) sum += w[j] * x[i + j];
    y[i] = sum;
}
