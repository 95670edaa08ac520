// Memory of the host that a kernel reads and writes in place, with what stands beside it in its pages.
#include <cstdio>
#include <cstdlib>
__global__ void twice(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}
int main() {
    const int n = 5000;
    char *before = (char *)malloc(100);
    float *x = (float *)malloc(n * sizeof(float)), *there, *part;
    char *after = (char *)malloc(100);
    for (int i = 0; i < 100; i++) before[i] = after[i] = (char)i;
    for (int i = 0; i < n; i++) x[i] = (float)i;
    cudaHostRegister(x, n * sizeof(float), cudaHostRegisterMapped);
    int again = cudaHostRegister(x, 8, 0) == cudaErrorHostMemoryAlreadyRegistered;
    cudaGetLastError();
    cudaHostGetDevicePointer((void **)&there, x, 0), cudaHostGetDevicePointer((void **)&part, x + 10, 0);
    twice<<<20, 256>>>(there, n);
    cudaDeviceSynchronize();
    x[1] += 1;
    twice<<<20, 256>>>(there, n);
    cudaDeviceSynchronize();
    cudaPointerAttributes told;
    cudaPointerGetAttributes(&told, x + 3);
    cudaHostUnregister(x);
    int bad = part != there + 10 || told.devicePointer != there + 3;
    for (int i = 0; i < n; i++) bad += x[i] != 4.0f * i + (i == 1 ? 2 : 0);
    for (int i = 0; i < 100; i++) bad += before[i] != (char)i || after[i] != (char)i;
    free(before), free(x), free(after);
    printf("bad=%d again=%d gone=%d\n", bad, again, cudaHostUnregister(x) == cudaErrorHostMemoryNotRegistered);
    return bad;
}
