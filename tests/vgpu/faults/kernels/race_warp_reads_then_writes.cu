// In-place rotation in a warp: the neighbour is read, then overwritten, with no __syncwarp between.
extern "C" __global__ void k(const int *x, int *y) {
    __shared__ int s[32];
    s[threadIdx.x] = x[threadIdx.x];
    __syncwarp();
    int v = s[(threadIdx.x + 1) % 32];
    s[threadIdx.x] = v; // FAULT: shared_race
    __syncwarp();
    y[threadIdx.x] = s[threadIdx.x];
}
