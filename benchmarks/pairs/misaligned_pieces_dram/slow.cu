// launch: grid=(N/1024) block=(256) shared=0
// The vectors start one float past a 16-byte boundary: they have to be read in pieces.
extern "C" __global__ void k(const float *x, float *y) {
    const int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    const float a = x[i + 1], b = x[i + 2], c = x[i + 3], d = x[i + 4];
    *reinterpret_cast<float4 *>(y + i) = make_float4(2.0f * a, 2.0f * b, 2.0f * c, 2.0f * d);
}
