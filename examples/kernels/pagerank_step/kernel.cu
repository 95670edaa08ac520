// launch: grid=(ceil(V/256)) block=(256)
extern "C" __global__ void pagerank_step(const int* start, const int* source, const int* degree, const float* rank,
                                         float* next, float damping, int V) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < V) {
        float sum = 0.0f;
        for (int e = start[v]; e < start[v + 1]; e++) {
            sum += rank[source[e]] / degree[source[e]];
        }
        next[v] = (1.0f - damping) / V + damping * sum;
    }
}
