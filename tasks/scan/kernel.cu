// launch: grid=(R) block=(256) shared=0
#define THREADS 256
#define WARPS (THREADS / 32)

__device__ float warp_scan(float value, int lane) {
    for (int step = 1; step < 32; step *= 2) {
        float before = __shfl_up_sync(0xffffffffu, value, step);
        if (lane >= step) {
            value += before;
        }
    }
    return value;
}

extern "C" __global__ void scan(const float* __restrict__ x, float* __restrict__ y, int C) {
    __shared__ float sums[WARPS];
    const float* in = x + (size_t)blockIdx.x * C;
    float* out = y + (size_t)blockIdx.x * C;
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    float carry = 0.0f;
    for (int base = 0; base < C; base += THREADS) {
        int c = base + threadIdx.x;
        float value = warp_scan(c < C ? in[c] : 0.0f, lane);
        if (lane == 31) {
            sums[warp] = value;
        }
        __syncthreads();
        if (warp == 0) {
            float total = warp_scan(lane < WARPS ? sums[lane] : 0.0f, lane);
            if (lane < WARPS) {
                sums[lane] = total;
            }
        }
        __syncthreads();
        float before = warp > 0 ? sums[warp - 1] : 0.0f;
        if (c < C) {
            out[c] = carry + before + value;
        }
        carry += sums[WARPS - 1];
        __syncthreads();  // the sums of this chunk have been read
    }
}
