// launch: grid=(ceil(M/4)) block=(32, 4)
// One warp for each row; four columns in a load where rows are aligned for it.
extern "C" __global__ void matvec(const float* __restrict__ A, const float* __restrict__ x, float* __restrict__ y,
                                  int M, int N) {
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= M) return;
    const float* a = A + (size_t)row * N;
    float sum = 0.0f;
    if (N % 4 == 0) {
        const float4* a4 = reinterpret_cast<const float4*>(a);
        const float4* x4 = reinterpret_cast<const float4*>(x);
#pragma unroll 4
        for (int c = threadIdx.x; c < N / 4; c += 32) {
            float4 p = a4[c], q = x4[c];
            sum += p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
        }
    } else {
#pragma unroll 4
        for (int c = threadIdx.x; c < N; c += 32) sum += a[c] * x[c];
    }
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (threadIdx.x == 0) y[row] = sum;
}
