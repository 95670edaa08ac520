// One fault for each word: where it happens must be told with file and line.
#include <cstdio>
#include <cstring>
__global__ void past_the_end(int *x, int n) {
    x[threadIdx.x + n - 1] = 1;  // line 5
}
__global__ void race(int *x) {
    x[0] = blockIdx.x;  // line 8
}
__global__ void unwritten(const int *x, int *y) {
    y[threadIdx.x] = x[threadIdx.x] + 1;  // line 11
}
int main(int argc, char **argv) {
    int *x, *y;
    cudaMalloc(&x, 64 * sizeof(int)), cudaMalloc(&y, 64 * sizeof(int));
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "past")) past_the_end<<<1, 32>>>(x, 64);
    if (!strcmp(what, "race")) race<<<4, 1>>>(x);
    if (!strcmp(what, "unwritten")) unwritten<<<1, 32>>>(x, y);
    if (!strcmp(what, "copied")) cudaMemcpy(x, y, 64, cudaMemcpyDeviceToDevice), unwritten<<<1, 16>>>(x, y);
    if (!strcmp(what, "freed")) cudaFree(x), unwritten<<<1, 32>>>(x, y);
    if (!strcmp(what, "set")) cudaMemset(x, 0, 256), unwritten<<<1, 32>>>(x, y);
    cudaError_t e = cudaDeviceSynchronize();
    printf("%s, then %s\n", cudaGetErrorName(e), cudaGetErrorName(cudaMalloc(&x, 4)));
    return 0;
}
