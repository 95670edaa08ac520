// A library and a kernel in turns on the same memory, also out of a graph.
#include <cublas_v2.h>

#include <cstdio>

__global__ void copy(const float *from, float *to) { to[threadIdx.x] = from[threadIdx.x]; }

int main() {
    float *x, *y, two = 2, one[32], out;
    for (float &v : one) v = 1;
    cudaMalloc(&x, sizeof one), cudaMalloc(&y, sizeof one);
    cublasHandle_t h;
    cublasCreate(&h);
    cudaMemcpy(y, one, sizeof one, cudaMemcpyHostToDevice);
    cublasScopy(h, 32, y, 1, x, 1);
    auto step = [&](cudaStream_t s) { cublasSscal(h, 32, &two, x, 1), copy<<<1, 32, 0, s>>>(x, y); };
    auto show = [&] { cudaMemcpy(&out, y + 31, 4, cudaMemcpyDeviceToHost), printf("%g ", out); };
    for (int i = 0; i < 3; i++) step(nullptr), show();
    cudaStream_t s;
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    cudaStreamCreate(&s);
    cublasSetStream(h, s);
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    step(s);
    cudaStreamEndCapture(s, &graph);
    cudaGraphInstantiate(&ready, graph, 0);
    for (int i = 0; i < 2; i++) cudaGraphLaunch(ready, s), show();
    puts(cudaGetErrorName(cudaGetLastError()));
}
