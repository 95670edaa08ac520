// launch: grid=(min(ceil(N/1024), 432)) block=(256) shared=0
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void reduce_sum(const float* x, float* out, int N) {
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    float s = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < N; i += 256 * gridDim.x) s += x[i];
    for (int step = 16; step; step /= 2) s += warp.shfl_down(s, step);
    __shared__ float part[8];
    if (warp.thread_rank() == 0) part[warp.meta_group_rank()] = s;
    block.sync();
    if (block.thread_rank() == 0) {
        for (int w = 1; w < 8; ++w) s += part[w];
        atomicAdd(out, s);
    }
}
