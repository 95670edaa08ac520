// launch: grid=(N/8) block=(32) shared=0
#define LEVELS 4
#define EACH 8

// A tree with 32 keys in a node: a warp compares them all, and the count of those not above the query is the way down.
extern "C" __global__ void k(const int *tree, const int *queries, int *y) {
    const int lane = threadIdx.x % 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
#pragma unroll 1
    for (int e = 0; e < EACH; ++e) {
        const int query = queries[warp * EACH + e];
        int place = 0, level = 0, width = 32;
#pragma unroll 1
        for (int l = 0; l < LEVELS; ++l) {
            const int key = tree[level + place * 32 + lane];
            place = place * 32 + __popc(__ballot_sync(~0u, key <= query)) - 1;
            level += width;
            width *= 32;
        }
        if (lane == 0) y[warp * EACH + e] = place;
    }
}
