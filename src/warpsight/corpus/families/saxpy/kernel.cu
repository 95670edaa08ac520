// launch: grid=(ceil(N/(256*4))) block=(256) shared=0
extern "C" __global__ void saxpy(float a, const float* __restrict__ x, float* __restrict__ y, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int quads = N / 4;
    if (i < quads) {
        float4 u = reinterpret_cast<const float4*>(x)[i];
        float4 v = reinterpret_cast<float4*>(y)[i];
        v.x = a * u.x + v.x;
        v.y = a * u.y + v.y;
        v.z = a * u.z + v.z;
        v.w = a * u.w + v.w;
        reinterpret_cast<float4*>(y)[i] = v;
    }
    int tail = quads * 4 + i;
    if (i < 4 && tail < N) {
        y[tail] = a * x[tail] + y[tail];
    }
}
