// launch: grid=(ceil(N/1024)) block=(256)
// Four numbers in a load, single precision; what depends on the step alone is found once for each block.
extern "C" __global__ void adam_step(float* __restrict__ p, float* __restrict__ m, float* __restrict__ v,
                                     const float* __restrict__ g, float rate, int step, int N) {
    __shared__ float scale[2];
    int i = blockIdx.x * 256 + threadIdx.x;
    if (threadIdx.x == 0) {
        float one = 1.0f, two = 1.0f;
        scale[0] = rate / (one - powf(0.9f, step));
        scale[1] = 1.0f / -expm1f(step * -0.00100050033f * two);
    }
    __syncthreads();
    if (i >= N / 4) return;
    float4 ps = reinterpret_cast<float4*>(p)[i], ms = reinterpret_cast<float4*>(m)[i];
    float4 vs = reinterpret_cast<float4*>(v)[i], gs = reinterpret_cast<const float4*>(g)[i];
    float* a[4] = {&ps.x, &ps.y, &ps.z, &ps.w};
    float* b[4] = {&ms.x, &ms.y, &ms.z, &ms.w};
    float* c[4] = {&vs.x, &vs.y, &vs.z, &vs.w};
    float d[4] = {gs.x, gs.y, gs.z, gs.w};
#pragma unroll
    for (int e = 0; e < 4; ++e) {
        *b[e] = 0.9f * *b[e] + 0.1f * d[e];
        *c[e] = 0.999f * *c[e] + 0.001f * d[e] * d[e];
        *a[e] -= scale[0] * __fdividef(*b[e], sqrtf(*c[e] * scale[1]) + 1e-8f);
    }
    reinterpret_cast<float4*>(p)[i] = ps;
    reinterpret_cast<float4*>(m)[i] = ms;
    reinterpret_cast<float4*>(v)[i] = vs;
}
