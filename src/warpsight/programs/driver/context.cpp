// Contexts: a stack of names for each thread. All stand for the one GPU; the primary one lives as long as the program.
#include <set>

#include "driver.hpp"

struct CUctx_st {
    unsigned long long id;
    unsigned flags;
};

namespace {
CUctx_st primary{1, 0};
int retained = 0;
unsigned long long next_id = 2;
std::set<CUcontext> made;
thread_local std::vector<CUcontext> current;

bool known(CUcontext c) { return c == &primary || made.count(c); }
CUcontext top() { return current.empty() ? nullptr : current.back(); }
}  // namespace

using namespace driver;

WS_API CUresult cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice number) {
    WS_LOCKED;
    WS_STARTED;
    WS_OUT(out);
    if (number) return CUDA_ERROR_INVALID_DEVICE;
    retained++;
    return *out = &primary, CUDA_SUCCESS;
}
WS_API CUresult cuDevicePrimaryCtxRelease(CUdevice) {
    WS_LOCKED;
    if (!retained) return CUDA_ERROR_INVALID_CONTEXT;
    return retained--, CUDA_SUCCESS;
}
WS_API CUresult cuDevicePrimaryCtxGetState(CUdevice, unsigned *flags, int *active) {
    WS_LOCKED;
    return *flags = primary.flags, *active = retained > 0, CUDA_SUCCESS;
}
WS_API CUresult cuDevicePrimaryCtxSetFlags(CUdevice, unsigned flags) { return primary.flags = flags, CUDA_SUCCESS; }
WS_API CUresult cuCtxCreate(CUcontext *out, CUctxCreateParams *, unsigned flags, CUdevice number) {
    WS_LOCKED;
    WS_STARTED;
    WS_OUT(out);
    if (number) return CUDA_ERROR_INVALID_DEVICE;
    *out = new CUctx_st{next_id++, flags};
    made.insert(*out);
    current.push_back(*out);
    return CUDA_SUCCESS;
}
#undef cuCtxCreate
WS_API CUresult cuCtxCreate_v2(CUcontext *out, unsigned flags, CUdevice number);
WS_API CUresult cuCtxCreate_v2(CUcontext *out, unsigned flags, CUdevice number) {
    return cuCtxCreate_v4(out, nullptr, flags, number);
}
WS_API CUresult cuCtxDestroy(CUcontext c) {
    WS_LOCKED;
    if (!made.erase(c)) return CUDA_ERROR_INVALID_CONTEXT;
    std::erase(current, c);
    delete c;
    return CUDA_SUCCESS;
}
WS_API CUresult cuCtxGetCurrent(CUcontext *out) {
    WS_STARTED;
    WS_OUT(out);
    return *out = top(), CUDA_SUCCESS;
}
WS_API CUresult cuCtxSetCurrent(CUcontext c) {
    WS_LOCKED;
    WS_STARTED;
    if (c && !known(c)) return CUDA_ERROR_INVALID_CONTEXT;
    if (!current.empty()) current.pop_back();
    if (c) current.push_back(c);
    return CUDA_SUCCESS;
}
WS_API CUresult cuCtxPushCurrent(CUcontext c) {
    WS_LOCKED;
    if (!known(c)) return CUDA_ERROR_INVALID_CONTEXT;
    return current.push_back(c), CUDA_SUCCESS;
}
WS_API CUresult cuCtxPopCurrent(CUcontext *out) {
    if (current.empty()) return CUDA_ERROR_INVALID_CONTEXT;
    if (out) *out = current.back();
    return current.pop_back(), CUDA_SUCCESS;
}
WS_API CUresult cuCtxGetDevice(CUdevice *out) {
    WS_OUT(out);
    if (!top()) return CUDA_ERROR_INVALID_CONTEXT;
    return *out = 0, CUDA_SUCCESS;
}
WS_API CUresult cuCtxGetDevice_v2(CUdevice *out, CUcontext c) {
    WS_OUT(out);
    if (!(c ? c : top())) return CUDA_ERROR_INVALID_CONTEXT;
    return *out = 0, CUDA_SUCCESS;
}
WS_API CUresult cuCtxGetId(CUcontext c, unsigned long long *id) {
    WS_OUT(id);
    if (!c) c = top();
    if (!c) return CUDA_ERROR_INVALID_CONTEXT;
    return *id = c->id, CUDA_SUCCESS;
}
WS_API CUresult cuCtxGetFlags(unsigned *flags) {
    if (!top()) return CUDA_ERROR_INVALID_CONTEXT;
    return *flags = top()->flags, CUDA_SUCCESS;
}
WS_API CUresult cuCtxGetApiVersion(CUcontext, unsigned *version) { return *version = 13040, CUDA_SUCCESS; }
WS_API CUresult cuCtxSynchronize() {
    if (!top()) return CUDA_ERROR_INVALID_CONTEXT;
    return result(stand_in::state_of_device());
}
WS_API CUresult cuCtxSynchronize_v2(CUcontext) { return result(stand_in::state_of_device()); }
WS_API CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    return result(cudaDeviceGetStreamPriorityRange(least, greatest));
}
WS_API CUresult cuCtxResetPersistingL2Cache() { return CUDA_SUCCESS; }
WS_API CUresult cuCtxGetLimit(size_t *value, CUlimit limit) {
    return result(cudaDeviceGetLimit(value, (cudaLimit)limit));
}
WS_API CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
    return result(cudaDeviceSetLimit((cudaLimit)limit, value));
}
WS_API CUresult cuCtxGetCacheConfig(CUfunc_cache *config) { return *config = CU_FUNC_CACHE_PREFER_NONE, CUDA_SUCCESS; }
WS_API CUresult cuCtxSetCacheConfig(CUfunc_cache) { return CUDA_SUCCESS; }
