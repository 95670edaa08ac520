// Launches and occupancy, by the runtime's own: a CUfunction is known there as a kernel.
#include <algorithm>
#include <cstring>

#include "driver.hpp"

using namespace driver;

namespace {

// Arguments as pointers to them, or all of them in one buffer.
CUresult start(CUfunction f, dim3 grid, dim3 block, size_t shared, CUstream stream, void **pointers, void **extra,
               bool cooperative) {
    WS_STARTED;
    WS_OUT(f);
    cudaFuncAttributes a;
    if (cudaError_t e = stand_in::state_of_device()) return result(e);
    if (cudaError_t e = cudaFuncGetAttributes(&a, f)) return result(e);
    std::vector<void *> held;
    if (!pointers && extra) {
        char *buffer = nullptr;
        size_t bytes = 0;
        for (void **p = extra; *p != CU_LAUNCH_PARAM_END; p += 2) {
            if (*p == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = (char *)p[1];
            if (*p == CU_LAUNCH_PARAM_BUFFER_SIZE) bytes = *(size_t *)p[1];
        }
        for (const auto &one : kernel_of(f)->parameters) {
            if (!buffer || one.offset + one.size > bytes) return CUDA_ERROR_INVALID_VALUE;
            held.push_back(buffer + one.offset);
        }
        pointers = held.data();
    }
    if (!pointers && !kernel_of(f)->parameters.empty()) return CUDA_ERROR_INVALID_VALUE;
    return result(cooperative ? cudaLaunchCooperativeKernel((void *)f, grid, block, pointers, shared, stream)
                              : cudaLaunchKernel((void *)f, grid, block, pointers, shared, stream));
}

}  // namespace

WS_API CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                               unsigned bz, unsigned shared, CUstream stream, void **pointers, void **extra) {
    return start(f, {gx, gy, gz}, {bx, by, bz}, shared, stream, pointers, extra, false);
}
WS_API CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                          unsigned bz, unsigned shared, CUstream stream, void **pointers) {
    return start(f, {gx, gy, gz}, {bx, by, bz}, shared, stream, pointers, nullptr, true);
}
WS_API CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **pointers, void **extra) {
    WS_OUT(c);
    bool cooperative = false;
    for (unsigned i = 0; i < c->numAttrs; i++) {
        const CUlaunchAttribute &a = c->attrs[i];
        if (a.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) cooperative = a.value.cooperative != 0;
        const auto &cluster = a.value.clusterDim;
        if (a.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION && (u64)cluster.x * cluster.y * cluster.z > 1)
            return result(stand_in::not_provided("cuLaunchKernelEx", "block clusters"));
    }
    return start(f, {c->gridDimX, c->gridDimY, c->gridDimZ}, {c->blockDimX, c->blockDimY, c->blockDimZ},
                 c->sharedMemBytes, c->hStream, pointers, extra, cooperative);
}
WS_API CUresult cuLaunchHostFunc(CUstream stream, CUhostFn f, void *data) {
    return result(cudaLaunchHostFunc(stream, f, data));
}
WS_API CUresult cuLaunchHostFunc_v2(CUstream stream, CUhostFn f, void *data, unsigned) {
    return result(cudaLaunchHostFunc(stream, f, data));
}

WS_API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction f, int threads, size_t shared) {
    return result(cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, f, threads, shared));
}
WS_API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction f, int threads,
                                                                     size_t shared, unsigned) {
    return result(cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, f, threads, shared));
}
WS_API CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, CUfunction f, int blocks, int threads) {
    return result(cudaOccupancyAvailableDynamicSMemPerBlock(bytes, f, blocks, threads));
}
// The block size that keeps the most threads on an SM, the largest of those that do.
WS_API CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction f, CUoccupancyB2DSize shared_of,
                                                 size_t shared, int most) {
    cudaFuncAttributes a;
    if (cudaError_t e = cudaFuncGetAttributes(&a, f)) return result(e);
    int best = 0;
    for (int n = most > 0 ? std::min(most, a.maxThreadsPerBlock) : a.maxThreadsPerBlock; n > 0; n = (n - 1) / 32 * 32) {
        int blocks = 0;
        const size_t bytes = shared_of ? shared_of(n) : shared;
        if (cudaError_t e = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, n, bytes)) return result(e);
        if (blocks * n > best) best = blocks * n, *block = n, *grid = blocks * (int)device().sms;
    }
    return best ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
WS_API CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, CUfunction f,
                                                          CUoccupancyB2DSize shared_of, size_t shared, int most,
                                                          unsigned) {
    return cuOccupancyMaxPotentialBlockSize(grid, block, f, shared_of, shared, most);
}
