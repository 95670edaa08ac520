// Streams, events, pinned memory, asynchronous copies, a callback and a captured graph.
#include <cstdio>
__global__ void add(int *x, int n, int by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += by;
}
static int called = 0;
static void CUDART_CB note(void *) { called++; }
int main() {
    const int n = 1000;
    int *host, *device;
    cudaMallocHost(&host, n * sizeof(int));
    cudaMalloc(&device, n * sizeof(int));
    for (int i = 0; i < n; i++) host[i] = i;
    cudaStream_t s, t;
    cudaStreamCreate(&s);
    cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
    cudaEvent_t a, b;
    cudaEventCreate(&a), cudaEventCreate(&b);
    cudaMemcpyAsync(device, host, n * sizeof(int), cudaMemcpyHostToDevice, s);
    cudaEventRecord(a, s);
    add<<<(n + 127) / 128, 128, 0, s>>>(device, n, 1);
    cudaEventRecord(b, s);
    cudaStreamWaitEvent(t, b, 0);
    cudaLaunchHostFunc(s, note, nullptr);
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    cudaStreamBeginCapture(t, cudaStreamCaptureModeGlobal);
    add<<<(n + 127) / 128, 128, 0, t>>>(device, n, 10);
    add<<<(n + 127) / 128, 128, 0, t>>>(device, n, 100);
    cudaStreamEndCapture(t, &graph);
    cudaGraphInstantiate(&ready, graph, 0);
    cudaGraphLaunch(ready, t);
    cudaGraphLaunch(ready, t);
    cudaMemcpyAsync(host, device, n * sizeof(int), cudaMemcpyDeviceToHost, t);
    cudaStreamSynchronize(t);
    float ms = -1;
    cudaEventElapsedTime(&ms, a, b);
    int bad = 0;
    for (int i = 0; i < n; i++) bad += host[i] != i + 221;
    printf("bad=%d called=%d timed=%d query=%d\n", bad, called, ms > 0 && ms < 1, (int)cudaStreamQuery(s));
    cudaGraphExecDestroy(ready), cudaGraphDestroy(graph);
    cudaStreamDestroy(s), cudaStreamDestroy(t), cudaFree(device), cudaFreeHost(host);
    return bad != 0 || cudaGetLastError() != cudaSuccess;
}
