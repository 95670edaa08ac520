// launch: grid=(min(ceil(N/2048), 512)) block=(256) shared=4*BINS
// Four values in a load, and two loads under way before the first value is counted.
extern "C" __global__ void histogram(const int* __restrict__ values, unsigned int* counts, int N, int BINS) {
    extern __shared__ unsigned int mine[];
    const int4* quads = (const int4*)values;
    int whole = N / 4, stride = gridDim.x * blockDim.x;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int4 none = make_int4(-1, -1, -1, -1);
    int4 a = i < whole ? quads[i] : none, b = i + stride < whole ? quads[i + stride] : none;
    for (int k = threadIdx.x; k < BINS; k += blockDim.x) {
        mine[k] = 0;
    }
    __syncthreads();
    while (i < whole) {
        int4 now = a, then = b;
        i += 2 * stride;
        a = i < whole ? quads[i] : none;
        b = i + stride < whole ? quads[i + stride] : none;
        atomicAdd(&mine[now.x], 1u);
        atomicAdd(&mine[now.y], 1u);
        atomicAdd(&mine[now.z], 1u);
        atomicAdd(&mine[now.w], 1u);
        if (then.x >= 0) {
            atomicAdd(&mine[then.x], 1u);
            atomicAdd(&mine[then.y], 1u);
            atomicAdd(&mine[then.z], 1u);
            atomicAdd(&mine[then.w], 1u);
        }
    }
    int rest = 4 * whole + blockIdx.x * blockDim.x + threadIdx.x;
    if (rest < N) {
        atomicAdd(&mine[values[rest]], 1u);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < BINS; k += blockDim.x) {
        if (mine[k] > 0) {
            atomicAdd(&counts[k], mine[k]);
        }
    }
}
