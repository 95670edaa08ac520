// launch: grid=(N/4096) block=(256) shared=0
#define ITEMS 4096

// A block lists those of its items that have work to do, and its threads go through the list.
extern "C" __global__ void k(const unsigned char *active, const float *x, float *y) {
    __shared__ unsigned short list[ITEMS];
    __shared__ int count;
    const int t = threadIdx.x, i0 = blockIdx.x * ITEMS;
    if (t == 0) count = 0;
    __syncthreads();
    for (int e = t; e < ITEMS; e += 256) {
        if (active[i0 + e])
            list[atomicAdd(&count, 1)] = e;
        else
            y[i0 + e] = x[i0 + e];
    }
    __syncthreads();
    for (int e = t; e < count; e += 256) {
        const int i = i0 + list[e];
        float v = x[i];
#pragma unroll 8
        for (int r = 0; r < 512; ++r) v = v * 0.99f + 0.01f;
        y[i] = v;
    }
}
