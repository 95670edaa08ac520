// Managed memory that host and kernel write in turns; printf and assert of a kernel; pitched copies.
#include <cassert>
#include <cstdio>
#include <cstring>
__global__ void twice(int *x, int n) {
    int i = threadIdx.x;
    if (i < n) x[i] *= 2;
    if (i == 0) printf("kernel sees %d of %d\n", x[0], n);
    assert(n > 0);
}
__global__ void rows(char *p, size_t pitch) { p[threadIdx.x * pitch] = 'a' + threadIdx.x; }
int main() {
    int *x;
    cudaMallocManaged(&x, 8 * sizeof(int));
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 8; i++) x[i] += i;
        twice<<<1, 32>>>(x, 8);
        cudaDeviceSynchronize();
    }
    printf("%d %d\n", x[1], x[7]);
    char *p, host[4 * 3];
    size_t pitch;
    cudaMallocPitch(&p, &pitch, 3, 4);
    cudaMemset2D(p, pitch, '.', 3, 4);
    rows<<<1, 4>>>(p, pitch);
    cudaMemcpy2D(host, 3, p, pitch, 3, 4, cudaMemcpyDeviceToHost);
    printf("%.12s\n", host);
    twice<<<1, 1>>>(x, 0);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
