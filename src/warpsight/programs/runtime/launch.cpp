// Launches: <<<>>>, cudaLaunchKernel and the others; each waits until the kernel has run.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "state.hpp"

namespace stand_in {
namespace {

cudaError_t send_launch(const Kernel &k, dim3 g, dim3 b, const std::string &params, size_t shared, bool cooperative) {
    Message m(Op::launch);
    m.add(k.module).add(k.name);
    for (u32 v : {g.x, g.y, g.z, b.x, b.y, b.z}) m.add(v);
    m.add(shared).add(params).add(cooperative);
    fflush(stdout);
    Answer a = m.ask();
    const cudaError_t code = (cudaError_t)a.number();
    const bool stays = a.number();
    clock_us += (double)a.number() / 1000.0;
    const std::string printed = a.text(), told = a.text();
    fwrite(printed.data(), 1, printed.size(), stdout);
    if (!told.empty()) fflush(stdout), fprintf(stderr, "%s\n", told.c_str());
    if (stays) sticky = code;
    return fail(code);
}

bool possible(dim3 g, dim3 b) {
    const u64 threads = (u64)b.x * b.y * b.z;
    return threads && threads <= device().threads_per_block && b.z <= 64 && g.x && g.x <= 0x7fffffffu && g.y &&
           g.y <= 65535 && g.z && g.z <= 65535;
}

struct Configuration {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
};
thread_local std::vector<Configuration> configurations;

}  // namespace

cudaError_t prepare(Kernel *k, dim3 g, dim3 b, void **arguments, size_t shared, bool cooperative, Step *step) {
    if (!k) return fail(cudaErrorInvalidDeviceFunction);
    if (!possible(g, b)) return fail(cudaErrorInvalidConfiguration);
    if (cudaError_t error = learn(k)) return fail(error);
    if ((u64)b.x * b.y * b.z > k->max_threads) return fail(cudaErrorLaunchOutOfResources);
    if (shared > std::max<u64>(k->dynamic_limit, 48 << 10) || shared + k->shared > device().shared_optin)
        return fail(cudaErrorInvalidValue);
    std::string params(k->parameter_bytes, 0);
    for (size_t i = 0; i < k->parameters.size(); i++)
        memcpy(&params[k->parameters[i].offset], arguments[i], k->parameters[i].size);
    *step = [=] { return send_launch(*k, g, b, params, shared, cooperative); };
    return cudaSuccess;
}

cudaError_t launch(Kernel *k, dim3 g, dim3 b, void **arguments, size_t shared, cudaStream_t stream, bool cooperative) {
    WS_LOCKED;
    WS_STICKY;
    Step step;
    if (cudaError_t error = prepare(k, g, b, arguments, shared, cooperative, &step)) return error;
    if (captured(stream, step, cudaGraphNodeTypeKernel)) return cudaSuccess;
    return step();
}

}  // namespace stand_in

using namespace stand_in;

WS_API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, struct CUstream_st *stream) {
    configurations.push_back({grid, block, shared, (cudaStream_t)stream});
    return 0;
}
WS_API cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream) {
    if (configurations.empty()) return fail(cudaErrorMissingConfiguration);
    const Configuration c = configurations.back();
    configurations.pop_back();
    *grid = c.grid, *block = c.block, *shared = c.shared, *(cudaStream_t *)stream = c.stream;
    return cudaSuccess;
}
WS_API cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *function) {
    WS_LOCKED;
    *kernel = (cudaKernel_t)kernel_of(function);
    return *kernel ? cudaSuccess : fail(cudaErrorInvalidDeviceFunction);
}
WS_API cudaError_t cudaGetKernel(cudaKernel_t *kernel, const void *function) {
    return __cudaGetKernel(kernel, function);
}
WS_API cudaError_t __cudaLaunchKernel(cudaKernel_t k, dim3 g, dim3 b, void **a, size_t shared, cudaStream_t s) {
    return launch((Kernel *)k, g, b, a, shared, s, false);
}
WS_API cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t k, dim3 g, dim3 b, void **a, size_t shared, cudaStream_t s) {
    return launch((Kernel *)k, g, b, a, shared, s, false);
}
WS_API cudaError_t cudaLaunchKernel(const void *f, dim3 g, dim3 b, void **a, size_t shared, cudaStream_t s) {
    return launch(kernel_of(f), g, b, a, shared, s, false);
}
WS_API cudaError_t cudaLaunchCooperativeKernel(const void *f, dim3 g, dim3 b, void **a, size_t shared, cudaStream_t s) {
    return launch(kernel_of(f), g, b, a, shared, s, true);
}
WS_API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *c, const void *f, void **a) {
    bool cooperative = false;
    for (unsigned i = 0; i < c->numAttrs; i++) {
        const auto &[id, pad, value] = c->attrs[i];
        if (id == cudaLaunchAttributeCooperative) cooperative = value.cooperative != 0;
        if (id == cudaLaunchAttributeClusterDimension) return not_provided("cudaLaunchKernelExC", "block clusters");
    }
    return launch(kernel_of(f), c->gridDim, c->blockDim, a, c->dynamicSmemBytes, c->stream, cooperative);
}
WS_API cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t f, void *data) {
    if (captured(stream, [=] { return f(data), cudaSuccess; }, cudaGraphNodeTypeHost)) return cudaSuccess;
    f(data);
    return cudaSuccess;
}

WS_API cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *out, const void *f) {
    WS_LOCKED;
    Kernel *k = kernel_of(f);
    if (!k) return fail(cudaErrorInvalidDeviceFunction);
    if (cudaError_t error = learn(k)) return fail(error);
    memset(out, 0, sizeof *out);
    out->sharedSizeBytes = k->shared, out->localSizeBytes = k->local, out->constSizeBytes = k->constant;
    out->numRegs = (int)k->registers, out->maxThreadsPerBlock = (int)k->max_threads;
    out->ptxVersion = out->binaryVersion = (int)(device().major * 10 + device().minor);
    out->maxDynamicSharedSizeBytes = (int)k->dynamic_limit;
    return cudaSuccess;
}
WS_API cudaError_t cudaFuncSetAttribute(const void *f, cudaFuncAttribute attribute, int value) {
    WS_LOCKED;
    Kernel *k = kernel_of(f);
    if (!k) return fail(cudaErrorInvalidDeviceFunction);
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
    if (cudaError_t error = learn(k)) return fail(error);
    if (value < 0 || (u64)value + k->shared > device().shared_optin) return fail(cudaErrorInvalidValue);
    k->dynamic_limit = (u64)value;
    return cudaSuccess;
}
WS_API cudaError_t cudaFuncSetCacheConfig(const void *, cudaFuncCache) { return cudaSuccess; }
WS_API cudaError_t cudaFuncSetSharedMemConfig(const void *, cudaSharedMemConfig) { return cudaSuccess; }

WS_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *f, int threads,
                                                                          size_t shared, unsigned) {
    WS_LOCKED;
    Kernel *k = kernel_of(f);
    if (!k) return fail(cudaErrorInvalidDeviceFunction);
    if (cudaError_t error = learn(k)) return fail(error);
    if (threads < 1) return fail(cudaErrorInvalidValue);
    Message m(Op::occupancy);
    *blocks = (int)m.add(k->module).add(k->name).add((u64)threads).add(shared).ask().number();
    return cudaSuccess;
}
WS_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *f, int threads, size_t n) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, f, threads, n, 0);
}
WS_API cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *f, int blocks, int) {
    WS_LOCKED;
    Kernel *k = kernel_of(f);
    if (!k || blocks < 1) return fail(cudaErrorInvalidValue);
    if (cudaError_t error = learn(k)) return fail(error);
    const u64 each = device().shared_per_sm / (u64)blocks / 128 * 128, own = k->shared + device().shared_reserved;
    *bytes = each > own ? std::min(each - own, device().shared_optin - k->shared) : 0;
    return cudaSuccess;
}
