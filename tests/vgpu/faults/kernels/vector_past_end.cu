// 30 floats hold seven whole float4.
extern "C" __global__ void k(const float4 *x, float4 *y, int n) {
    if (threadIdx.x < (n + 3) / 4)
        y[threadIdx.x] = x[threadIdx.x]; // FAULT: out_of_bounds
}
