// launch: grid=(ceil(N/32)) block=(256)
// Boxes with their far corners in shared memory; eight threads share the work of a box; no division.
extern "C" __global__ void box_overlaps(const int* __restrict__ corner, const int* __restrict__ size,
                                        int* __restrict__ count, int N) {
    __shared__ int4 boxes[256];
    __shared__ int areas[256];
    int part = threadIdx.x % 8, i = blockIdx.x * 32 + threadIdx.x / 8;
    int2 low = {}, extent = {};
    if (i < N) low = reinterpret_cast<const int2*>(corner)[i], extent = reinterpret_cast<const int2*>(size)[i];
    int right = low.x + extent.x, bottom = low.y + extent.y, area = extent.x * extent.y, found = 0;
    for (int j0 = 0; j0 < N; j0 += 256) {
        int here = min(256, N - j0);
        __syncthreads();
        if (threadIdx.x < here) {
            int2 c = reinterpret_cast<const int2*>(corner)[j0 + threadIdx.x];
            int2 s = reinterpret_cast<const int2*>(size)[j0 + threadIdx.x];
            boxes[threadIdx.x] = {c.x, c.y, c.x + s.x, c.y + s.y};
            areas[threadIdx.x] = s.x * s.y;
        }
        __syncthreads();
#pragma unroll 4
        for (int j = part; j < here; j += 8) {
            int4 b = boxes[j];
            int both = max(min(right, b.z) - max(low.x, b.x), 0) * max(min(bottom, b.w) - max(low.y, b.y), 0);
            found += 3 * both > area + areas[j];
        }
    }
    found += __shfl_xor_sync(~0u, found, 1);
    found += __shfl_xor_sync(~0u, found, 2);
    found += __shfl_xor_sync(~0u, found, 4);
    if (part == 0 && i < N) count[i] = found - 1;
}
