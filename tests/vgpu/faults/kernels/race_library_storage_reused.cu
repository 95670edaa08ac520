// Temporary storage of a library used twice without a barrier between.
#include <cub/block/block_reduce.cuh>
extern "C" __global__ void k(const int *x, int *y) {
    using Reduce = cub::BlockReduce<int, 64>;
    __shared__ typename Reduce::TempStorage temp;
    int a = Reduce(temp).Sum(x[threadIdx.x]);
    int b = Reduce(temp).Sum(x[threadIdx.x] * 2); // FAULT: shared_race
    if (threadIdx.x == 0) y[0] = a + b;
}
