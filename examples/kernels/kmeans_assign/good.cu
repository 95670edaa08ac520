// launch: grid=(ceil(N/256)) block=(128)
// Two points in the registers of each thread, centroids in shared memory: one read of a centroid serves two distances.
// The square root is left out, since it keeps the order.
#define CHUNK 128

struct Point {
    float4 low, high;
};

__device__ __forceinline__ float squared(const Point& p, float4 a, float4 b) {
    float d0 = p.low.x - a.x, d1 = p.low.y - a.y, d2 = p.low.z - a.z, d3 = p.low.w - a.w;
    float d4 = p.high.x - b.x, d5 = p.high.y - b.y, d6 = p.high.z - b.z, d7 = p.high.w - b.w;
    return d0 * d0 + d1 * d1 + d2 * d2 + d3 * d3 + d4 * d4 + d5 * d5 + d6 * d6 + d7 * d7;
}

extern "C" __global__ void kmeans_assign(const float4* __restrict__ points, const float4* __restrict__ centroids,
                                         int* __restrict__ label, int N, int K) {
    __shared__ float4 shared[CHUNK * 2];
    int i = blockIdx.x * 256 + threadIdx.x, j = i + 128;
    Point p = {}, q = {};
    if (i < N) p = {points[2 * i], points[2 * i + 1]};
    if (j < N) q = {points[2 * j], points[2 * j + 1]};
    float best_p = 3.0e38f, best_q = 3.0e38f;
    int label_p = 0, label_q = 0;
    for (int start = 0; start < K; start += CHUNK) {
        int count = min(CHUNK, K - start);
        __syncthreads();
        for (int c = threadIdx.x; c < count * 2; c += 128) shared[c] = centroids[start * 2 + c];
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < count; ++k) {
            float4 a = shared[2 * k], b = shared[2 * k + 1];
            float dp = squared(p, a, b), dq = squared(q, a, b);
            if (dp < best_p) best_p = dp, label_p = start + k;
            if (dq < best_q) best_q = dq, label_q = start + k;
        }
    }
    if (i < N) label[i] = label_p;
    if (j < N) label[j] = label_q;
}
