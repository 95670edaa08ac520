// launch: grid=(ceil(E/256)) block=(256)
struct Edge {
    int from, to;
};

extern "C" __global__ void degree_count(const Edge* edges, int* degree, int E, int V) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < E) {
        atomicAdd(&degree[edges[e].from], 1);
        atomicAdd(&degree[edges[e].to], 1);
    }
}
