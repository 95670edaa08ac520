// launch: grid=(N/1024) block=(256) shared=0
// The same vectors behind eight floats instead of one: they start at a 16-byte boundary (and at a sector).
extern "C" __global__ void k(const float *x, float *y) {
    const int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    const float4 v = *reinterpret_cast<const float4 *>(x + i + 8);
    *reinterpret_cast<float4 *>(y + i) = make_float4(2.0f * v.x, 2.0f * v.y, 2.0f * v.z, 2.0f * v.w);
}
