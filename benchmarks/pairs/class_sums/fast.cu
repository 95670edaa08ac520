// launch: grid=(N/16384) block=(256) shared=0
#define CLASSES 8
#define EACH 64

// A thread adds up each class in a register; a block adds those up and goes to memory once for each class.
extern "C" __global__ void k(const float *x, const unsigned char *label, float *sums) {
    __shared__ float parts[8][CLASSES];
    const int t = threadIdx.x, i0 = blockIdx.x * 256 * EACH;
    float own[CLASSES] = {};
    for (int e = t; e < 256 * EACH; e += 256) {
        const float v = x[i0 + e];
        const int c = label[i0 + e];
#pragma unroll
        for (int j = 0; j < CLASSES; ++j) own[j] += c == j ? v : 0.0f;
    }
#pragma unroll
    for (int j = 0; j < CLASSES; ++j) {
        for (int s = 16; s > 0; s /= 2) own[j] += __shfl_down_sync(~0u, own[j], s);
        if (t % 32 == 0) parts[t / 32][j] = own[j];
    }
    __syncthreads();
    if (t < CLASSES) {
        float sum = 0.0f;
        for (int w = 0; w < 8; ++w) sum += parts[w][t];
        atomicAdd(&sums[t], sum);
    }
}
