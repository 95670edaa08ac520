// launch: grid=(ceil(N/256)) block=(128)
// Edges stand in shared memory with their slope, so no point divides; two points for each thread, and no branches.
#define CHUNK 256

extern "C" __global__ void point_in_polygon(const float2* __restrict__ points, const float2* __restrict__ polygon,
                                            int* __restrict__ inside, int N, int K) {
    __shared__ float4 edges[CHUNK];  // x1, y1, y2, slope
    int i = blockIdx.x * 256 + threadIdx.x, j = i + 128;
    float2 p = i < N ? points[i] : make_float2(0, 0);
    float2 q = j < N ? points[j] : make_float2(0, 0);
    int in_p = 0, in_q = 0;
    for (int start = 0; start < K; start += CHUNK) {
        int count = min(CHUNK, K - start);
        __syncthreads();
        for (int e = threadIdx.x; e < count; e += 128) {
            int k = start + e;
            float2 a = polygon[k], b = polygon[k > 0 ? k - 1 : K - 1];
            edges[e] = make_float4(a.x, a.y, b.y, (b.x - a.x) / (b.y - a.y));  // level edges are never crossed
        }
        __syncthreads();
#pragma unroll 4
        for (int e = 0; e < count; ++e) {
            float4 edge = edges[e];
            bool across_p = (edge.y > p.y) != (edge.z > p.y), across_q = (edge.y > q.y) != (edge.z > q.y);
            in_p ^= across_p & (p.x < edge.w * (p.y - edge.y) + edge.x);
            in_q ^= across_q & (q.x < edge.w * (q.y - edge.y) + edge.x);
        }
    }
    if (i < N) inside[i] = in_p;
    if (j < N) inside[j] = in_q;
}
