// launch: grid=(ceil(N/(256*4))) block=(256) shared=0
extern "C" __global__ void saxpy(float a, const float* __restrict__ x, float* __restrict__ y, int N) {
    int start = blockIdx.x * blockDim.x + threadIdx.x;
    int step = gridDim.x * blockDim.x;
    float factor = a;
    int quads = N / 4;
    for (int i = start; i < quads; i += step) {
        float4 u = reinterpret_cast<const float4*>(x)[i];
        float4 v = reinterpret_cast<float4*>(y)[i];
        v.x = factor * u.x + v.x;
        v.y = factor * u.y + v.y;
        v.z = factor * u.z + v.z;
        v.w = factor * u.w + v.w;
        reinterpret_cast<float4*>(y)[i] = v;
    }
    for (int i = quads * 4 + start; i < N; i += step) {
        y[i] = factor * x[i] + y[i];
    }
}
