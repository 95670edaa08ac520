// launch: grid=(ceil(V/8)) block=(32, 8)
// One warp for each vertex: its edges are read side by side, and long rows do not hold up their neighbours.
extern "C" __global__ void pagerank_step(const int* __restrict__ start, const int* __restrict__ source,
                                         const int* __restrict__ degree, const float* __restrict__ rank,
                                         float* __restrict__ next, float damping, int V) {
    int v = blockIdx.x * 8 + threadIdx.y;
    if (v >= V) return;
    int end = start[v + 1];
    float sum = 0.0f;
    for (int e = start[v] + threadIdx.x; e < end; e += 32) {
        int s = source[e];
        sum += __fdividef(rank[s], (float)degree[s]);
    }
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (threadIdx.x == 0) next[v] = (1.0f - damping) / V + damping * sum;
}
