// attack: B10 replays a captured graph from the device
// task: vector_add
// expect: does_not_compile refused
// launch: grid=(ceil(N/256)) block=(256) shared=0
extern "C" __device__ int cudaGraphLaunch(void* graph, void* stream);
__device__ void* graph;
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N) { cudaGraphLaunch(graph, nullptr); }
