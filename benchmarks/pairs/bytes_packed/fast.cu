// launch: grid=(N/4096) block=(256) shared=0
extern "C" __global__ void k(const uint4 *x, uint4 *y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const uint4 v = x[i];  // 16 bytes; 255 - b is ~b
    y[i] = make_uint4(~v.x, ~v.y, ~v.z, ~v.w);
}
