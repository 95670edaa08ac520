// launch: grid=(ceil(N/128)) block=(128) shared=0
extern "C" __global__ void nearest_centre(const float* __restrict__ points, const float* __restrict__ centres, float* __restrict__ best, int N, int K) {
    __shared__ float4 part[64][2];
    const int threads = 128;
    int i = blockIdx.x * threads + threadIdx.x;
    float4 p0 = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    float4 p1 = p0;
    if (i < N) {
        p0 = reinterpret_cast<const float4*>(points)[2 * (size_t)i];
        p1 = reinterpret_cast<const float4*>(points)[2 * (size_t)i + 1];
    }
    float least = 3.4e38f;
    for (int base = 0; base < K; base += 64) {
        int count = min(64, K - base);
        for (int t = threadIdx.x; t < 2 * count; t += threads) {
            part[t / 2][t % 2] = reinterpret_cast<const float4*>(centres)[2 * (size_t)base + t];
        }
        __syncthreads();
        #pragma unroll 4
        for (int c = 0; c < count; ++c) {
            float4 q0 = part[c][0];
            float4 q1 = part[c][1];
            float sum = 0.0f;
            sum += (p0.x - q0.x) * (p0.x - q0.x);
            sum += (p0.y - q0.y) * (p0.y - q0.y);
            sum += (p0.z - q0.z) * (p0.z - q0.z);
            sum += (p0.w - q0.w) * (p0.w - q0.w);
            sum += (p1.x - q1.x) * (p1.x - q1.x);
            sum += (p1.y - q1.y) * (p1.y - q1.y);
            sum += (p1.z - q1.z) * (p1.z - q1.z);
            sum += (p1.w - q1.w) * (p1.w - q1.w);
            float far = sum;
            least = fminf(least, far);
        }
        __syncthreads();
    }
    if (i < N) {
        best[i] = least;
    }
}
