__device__ int lock;
extern "C" __global__ void k(int *y) {
    while (atomicCAS(&lock, 0, 1) != 0) { // FAULT: endless_loop
    }
    y[threadIdx.x] = 1;
}
