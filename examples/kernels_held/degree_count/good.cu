// launch: grid=(min(ceil(E/4096), 68)) block=(1024) shared=4*V
// One block for each multiprocessor counts in shared memory, two edges in a load; what is not zero is added at the end.
extern "C" __global__ void degree_count(const int* __restrict__ edges, int* degree, int E, int V) {
    extern __shared__ int mine[];
    for (int v = threadIdx.x; v < V; v += 1024) mine[v] = 0;
    __syncthreads();
    int thread = blockIdx.x * 1024 + threadIdx.x, threads = gridDim.x * 1024;
    const int4* wide = reinterpret_cast<const int4*>(edges);
#pragma unroll 2
    for (int p = thread; p < E / 2; p += threads) {
        int4 two = wide[p];
        atomicAdd(&mine[two.x], 1);
        atomicAdd(&mine[two.y], 1);
        atomicAdd(&mine[two.z], 1);
        atomicAdd(&mine[two.w], 1);
    }
    if (E % 2 == 1 && thread < 2) atomicAdd(&mine[edges[2 * E - 2 + thread]], 1);
    __syncthreads();
    for (int v = threadIdx.x; v < V; v += 1024) {
        if (mine[v] > 0) atomicAdd(&degree[v], mine[v]);
    }
}
