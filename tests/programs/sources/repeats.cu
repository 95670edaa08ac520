// Launches that repeat: some change nothing any more, some do every time, and host code writes between them.
#include <cstdio>
__global__ void copy(const int *x, int *y) { y[threadIdx.x] = x[threadIdx.x] + 1; }
__global__ void count(int *y) { atomicAdd(y, 1); }
__global__ void gather(const int *managed, int *y) { y[0] += managed[0]; }
__global__ void put(int *z, int v) { z[threadIdx.x] = v; }
int alternate() {  // each result is there again and again, under the other one
    int *z, sum = 0, one;
    cudaMalloc(&z, 128);
    for (int i = 0; i < 40; i++) {
        put<<<1, 32>>>(z, i / 2 % 2 + 1);
        cudaMemcpy(&one, z + 31, 4, cudaMemcpyDeviceToHost);
        sum += one;
    }
    return sum;
}
int main() {
    int *x, *y, *m, host[32];
    cudaMalloc(&x, sizeof host), cudaMalloc(&y, sizeof host), cudaMallocManaged(&m, 4);
    cudaMemset(x, 0, sizeof host);
    for (int i = 0; i < 20; i++) copy<<<1, 32>>>(x, y);
    for (int i = 0; i < 20; i++) count<<<1, 1>>>(y);
    for (int i = 0; i < 5; i++) {
        cudaMemset(y + 1, 0, 4);
        count<<<1, 8>>>(y + 1);
    }
    cudaMemset(y + 2, 0, 4);
    for (int i = 0; i < 5; i++) m[0] = i, gather<<<1, 1>>>(m, y + 2);
    cudaMemcpy(host, y, sizeof host, cudaMemcpyDeviceToHost);
    printf("%d %d %d %d %d\n", host[0], host[1], host[2], host[31], alternate());
}
