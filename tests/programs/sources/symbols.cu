// Variables with first values, a constant table, a pointer to a variable, copies to and from symbols.
#include <cstdio>
__device__ int counter = 7;
__device__ int grid_of[4] = {1, 2, 3, 4};
__device__ int *where = grid_of + 1;
__constant__ float factors[4] = {0.5f, 1.5f, 2.5f, 3.5f};
__managed__ int seen = 5;
__global__ void use(float *out) {
    out[threadIdx.x] = factors[threadIdx.x] * grid_of[threadIdx.x];
    if (threadIdx.x == 0) {
        atomicAdd(&counter, *where);
        seen += 1;
    }
}
int main() {
    float *out, host[4], other[4] = {10, 20, 30, 40};
    cudaMalloc(&out, sizeof host);
    use<<<1, 4>>>(out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    int count = 0;
    cudaMemcpyFromSymbol(&count, counter, sizeof count);
    printf("%g %g %g %g counter=%d seen=%d\n", host[0], host[1], host[2], host[3], count, seen);
    cudaMemcpyToSymbol(factors, other, sizeof other);
    use<<<1, 4>>>(out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    void *address = nullptr;
    size_t size = 0;
    cudaGetSymbolAddress(&address, counter), cudaGetSymbolSize(&size, factors);
    cudaMemcpy(&count, address, sizeof count, cudaMemcpyDeviceToHost);
    printf("%g %g %g %g counter=%d seen=%d size=%zu\n", host[0], host[1], host[2], host[3], count, seen, size);
    printf("past the end: %s\n", cudaGetErrorName(cudaMemcpyToSymbol(factors, other, 99)));
}
