// launch: grid=(N/256) block=(256) shared=0
#define HARMONICS 32

// The sine of each multiple follows from the two before: sin((h + 1) p) = 2 cos(p) sin(h p) - sin((h - 1) p).
extern "C" __global__ void k(const float *x, const float *w, float *y) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    const float twice = 2.0f * cosf(x[i]);
    float sum = 64.0f, before = 0.0f, now = sinf(x[i]);
    for (int h = 0; h < HARMONICS; ++h) {
        sum += w[h] * now;
        const float next = twice * now - before;
        before = now;
        now = next;
    }
    y[i] = sum;
}
