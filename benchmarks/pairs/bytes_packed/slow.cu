// launch: grid=(N/256) block=(256) shared=0
extern "C" __global__ void k(const unsigned char *x, unsigned char *y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = 255 - x[i];
}
