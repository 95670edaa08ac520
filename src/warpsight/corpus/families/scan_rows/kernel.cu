// launch: grid=(R) block=(256) shared=0
extern "C" __global__ void scan_rows(const float* __restrict__ x, float* __restrict__ y, int R) {
    __shared__ float ends[8];
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    for (int row = blockIdx.x; row < R; row += gridDim.x) {
        size_t at = (size_t)row * 256 + threadIdx.x;
        float4 v = reinterpret_cast<const float4*>(x)[at];
        v.y += v.x;
        v.z += v.y;
        v.w += v.z;
        float sum = v.w;
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
        float before = __shfl_up_sync(0xffffffffu, sum, 1);
        before = lane > 0 ? before : 0.0f;
        for (int w = 0; w < 7; ++w) {
            if (w < warp) {
                before += ends[w];
            }
        }
        reinterpret_cast<float4*>(y)[at] = make_float4(v.x + before, v.y + before, v.z + before, v.w + before);
        __syncthreads();
    }
}
