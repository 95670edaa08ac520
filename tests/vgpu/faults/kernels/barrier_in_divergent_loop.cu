// Each lane goes round as often as its own number says.
extern "C" __global__ void k(const int *trips, int *y) {
    int sum = 0;
    for (int i = 0; i < trips[threadIdx.x]; i++) {
        sum += i;
        __syncthreads(); // FAULT: barrier_divergence
    }
    y[threadIdx.x] = sum;
}
