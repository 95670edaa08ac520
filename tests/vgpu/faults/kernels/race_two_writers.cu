// Two warps put different values in one word.
extern "C" __global__ void k(int *y) {
    __shared__ int word;
    if (threadIdx.x % 32 == 0)
        word = threadIdx.x; // FAULT: shared_race
    __syncthreads();
    y[threadIdx.x] = word;
}
