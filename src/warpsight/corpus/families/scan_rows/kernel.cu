// launch: grid=(R) block=(256) shared=0
extern "C" __global__ void scan_rows(const float* __restrict__ x, float* __restrict__ y) {
    __shared__ float ends[8];
    int t = threadIdx.x;
    int lane = t % 32;
    int warp = t / 32;
    size_t at = (size_t)blockIdx.x * 256 + t;
    float sum = x[at];
    for (int step = 1; step < 32; step *= 2) {
        float left = __shfl_up_sync(0xffffffffu, sum, step);
        if (lane >= step) {
            sum += left;
        }
    }
    if (lane == 31) {
        ends[warp] = sum;
    }
    __syncthreads();
    for (int w = 0; w < 7; ++w) {
        if (w < warp) {
            sum += ends[w];
        }
    }
    y[at] = sum;
}
