// launch: grid=(N/64) block=(64) shared=0
#define SLICE 64

__device__ __forceinline__ void copy16(float *to, const float *from) {
    const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(to));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(at), "l"(from) : "memory");
}

// The next slice is on its way to the other buffer while this one is worked on.
extern "C" __global__ void k(const float *x, float *y, int rounds) {
    __shared__ __align__(16) float slice[2][SLICE * 4];
    const int t = threadIdx.x;
    const float *from = x + (size_t)blockIdx.x * rounds * SLICE * 4;
    float sum = 0.0f;
    copy16(&slice[0][4 * t], from + 4 * t);
    asm volatile("cp.async.commit_group;\n" ::: "memory");
    for (int r = 0; r < rounds; ++r) {
        if (r + 1 < rounds) copy16(&slice[(r + 1) % 2][4 * t], from + (r + 1) * SLICE * 4 + 4 * t);
        asm volatile("cp.async.commit_group;\n" ::: "memory");
        asm volatile("cp.async.wait_group 1;\n" ::: "memory");
        __syncthreads();
#pragma unroll 16
        for (int j = 0; j < SLICE; ++j) sum = sum * 0.5f + slice[r % 2][(4 * j + t) % (SLICE * 4)];
        __syncthreads();
    }
    y[blockIdx.x * SLICE + t] = sum;
}
