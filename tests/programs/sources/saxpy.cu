#include <cstdio>
#include <vector>
__global__ void saxpy(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 1 << 20;
    std::vector<float> x(n, 1.0f), y(n, 2.0f);
    float *dx, *dy;
    cudaMalloc(&dx, n * 4); cudaMalloc(&dy, n * 4);
    cudaMemcpy(dx, x.data(), n * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(dy, y.data(), n * 4, cudaMemcpyHostToDevice);
    cudaEvent_t a, b; cudaEventCreate(&a); cudaEventCreate(&b);
    cudaEventRecord(a);
    saxpy<<<(n + 255) / 256, 256>>>(n, 3.0f, dx, dy);
    cudaEventRecord(b);
    float ms; cudaEventElapsedTime(&ms, a, b);
    cudaMemcpy(y.data(), dy, n * 4, cudaMemcpyDeviceToHost);
    int bad = 0; for (float v : y) bad += v != 5.0f;
    printf("%s bad=%d ms=%f\n", bad ? "FAIL" : "PASS", bad, ms);
    return bad != 0;
}
