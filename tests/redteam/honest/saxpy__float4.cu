// launch: grid=(ceil(N/1024)) block=(256) shared=0
extern "C" __global__ void saxpy(const float* __restrict__ x, float* __restrict__ y, float alpha, int N) {
    int i = (blockIdx.x * 256 + threadIdx.x) * 4;
    if (i + 3 < N) {
        float4 u = *reinterpret_cast<const float4*>(x + i), v = *reinterpret_cast<float4*>(y + i);
        v.x = fmaf(alpha, u.x, v.x), v.y = fmaf(alpha, u.y, v.y), v.z = fmaf(alpha, u.z, v.z), v.w = fmaf(alpha, u.w, v.w);
        *reinterpret_cast<float4*>(y + i) = v;
    } else {
        for (; i < N; ++i) y[i] = fmaf(alpha, x[i], y[i]);
    }
}
