// A cooperative launch whose grid meets, and one that is too large.
#include <cooperative_groups.h>
#include <cstdio>
namespace cg = cooperative_groups;
__global__ void turn_by_turn(int *x, int *out) {
    cg::grid_group grid = cg::this_grid();
    int i = grid.thread_rank(), n = grid.size();
    for (int step = 0; step < 3; step++) {
        int next = x[(i + 1) % n];
        grid.sync();
        x[i] = next + 1;
        grid.sync();
    }
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int sum = x[i];
    for (int d = 4; d; d /= 2) sum += tile.shfl_down(sum, d);
    if (tile.thread_rank() == 0) atomicAdd(out, sum);
}
int main() {
    int *x, *out, n = 8 * 64, total = 0;
    cudaMalloc(&x, n * sizeof(int)), cudaMalloc(&out, sizeof(int));
    cudaMemset(x, 0, n * sizeof(int)), cudaMemset(out, 0, sizeof(int));
    void *args[] = {&x, &out};
    cudaError_t e = cudaLaunchCooperativeKernel((void *)turn_by_turn, dim3(8), dim3(64), args, 0, 0);
    cudaMemcpy(&total, out, sizeof total, cudaMemcpyDeviceToHost);
    int each = 0, sms = 0;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, turn_by_turn, 64, 0);
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    cudaError_t large =
        cudaLaunchCooperativeKernel((void *)turn_by_turn, dim3(each * sms + 1), dim3(64), args, 0, 0);
    printf("%s total=%d %s\n", cudaGetErrorName(e), total, cudaGetErrorName(large));
}
