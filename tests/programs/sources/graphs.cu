// A graph built node by node: copies, a fill, a kernel, host code; in an order other than that of its building; changed
// when it is ready; a clone, a child, a captured launch of a graph.
#include <cstdio>
__global__ void add(int *x, int n, int by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += by;
}
static int called = 0;
static void CUDART_CB note(void *by) { called += *(int *)by; }
int main() {
    const int n = 256;
    int host[n], result[n], *device, one = 1, bad = 0;
    cudaMalloc(&device, sizeof host);
    for (int i = 0; i < n; i++) host[i] = i, result[i] = -1;
    cudaGraph_t graph, clone, child;
    cudaGraphCreate(&graph, 0);
    cudaGraphNode_t back, in, kernel, fill, heard, nodes[8];
    cudaGraphAddMemcpyNode1D(&back, graph, nullptr, 0, result, device, sizeof host, cudaMemcpyDeviceToHost);
    cudaGraphAddMemcpyNode1D(&in, graph, nullptr, 0, device, host, sizeof host, cudaMemcpyHostToDevice);
    int count = n, by = 5;
    void *arguments[] = {&device, &count, &by};
    cudaKernelNodeParams p = {(void *)add, dim3(2), dim3(128), 0, arguments, nullptr};
    cudaGraphAddKernelNode(&kernel, graph, &in, 1, &p);
    cudaMemsetParams zero = {device, 0, 0, 4, 16, 1};
    cudaGraphAddMemsetNode(&fill, graph, &kernel, 1, &zero);
    cudaHostNodeParams h = {note, &one};
    cudaGraphAddHostNode(&heard, graph, &back, 1, &h);
    cudaGraphAddDependencies(graph, &fill, &back, nullptr, 1);
    size_t nodes_found = 8, roots = 0;
    cudaGraphGetNodes(graph, nodes, &nodes_found), cudaGraphGetRootNodes(graph, nullptr, &roots);
    cudaGraphNodeType type;
    cudaGraphNodeGetType(nodes[0], &type);
    printf("nodes=%zu roots=%zu first=%d\n", nodes_found, roots, type == cudaGraphNodeTypeMemcpy);
    cudaGraphExec_t ready;
    cudaGraphInstantiate(&ready, graph, 0);
    cudaGraphLaunch(ready, 0);
    for (int i = 0; i < n; i++) bad += result[i] != (i < 16 ? 0 : i + 5);
    by = 7;
    cudaGraphExecKernelNodeSetParams(ready, kernel, &p);
    cudaGraphLaunch(ready, 0);
    for (int i = 0; i < n; i++) bad += result[i] != (i < 16 ? 0 : i + 7);
    cudaGraphClone(&clone, graph), cudaGraphExecUpdate(ready, clone, nullptr);
    cudaStream_t s;
    cudaStreamCreate(&s);
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    cudaGraphLaunch(ready, s);
    cudaStreamEndCapture(s, &child);
    cudaGraphExec_t outer;
    cudaGraphInstantiate(&outer, child, 0);
    result[0] = 3;
    cudaGraphLaunch(outer, s);
    for (int i = 0; i < n; i++) bad += result[i] != (i < 16 ? 0 : i + 5);
    cudaGraphNode_t loop[] = {back, in};
    cudaGraphAddDependencies(graph, &loop[0], &loop[1], nullptr, 1);
    printf("bad=%d called=%d error=%d", bad, called, cudaGetLastError());
    printf(" loop=%d\n", cudaGraphInstantiate(&ready, graph, 0) != cudaSuccess);
    return bad != 0;
}
