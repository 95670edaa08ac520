// The device: one GPU of the chosen kind, its properties, limits and attributes.
#include <cstdio>
#include <cstring>

#include "state.hpp"

using namespace stand_in;

static u64 heap_bytes = 8 << 20;

static void fill(cudaDeviceProp *p) {
    const Device &d = device();
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "%s", d.name.c_str());
    p->totalGlobalMem = d.total_bytes, p->sharedMemPerBlock = d.shared_per_block;
    p->regsPerBlock = (int)d.registers_per_block, p->warpSize = 32, p->memPitch = 0x7fffffff;
    p->maxThreadsPerBlock = (int)d.threads_per_block, p->totalConstMem = 65536;
    p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024, p->maxThreadsDim[2] = 64;
    p->maxGridSize[0] = 0x7fffffff, p->maxGridSize[1] = p->maxGridSize[2] = 65535;
    p->major = (int)d.major, p->minor = (int)d.minor, p->multiProcessorCount = (int)d.sms;
    p->textureAlignment = 512, p->texturePitchAlignment = 32, p->surfaceAlignment = 512;
    p->canMapHostMemory = 1, p->concurrentKernels = 1, p->asyncEngineCount = 2, p->unifiedAddressing = 1;
    p->memoryBusWidth = (int)d.bus_bits, p->l2CacheSize = (int)d.l2_bytes;
    p->maxThreadsPerMultiProcessor = (int)d.threads_per_sm, p->streamPrioritiesSupported = 1;
    p->globalL1CacheSupported = p->localL1CacheSupported = 1;
    p->sharedMemPerMultiprocessor = d.shared_per_sm, p->regsPerMultiprocessor = (int)d.registers_per_sm;
    p->managedMemory = p->concurrentManagedAccess = 1, p->cooperativeLaunch = 1, p->computePreemptionSupported = 1;
    p->sharedMemPerBlockOptin = d.shared_optin, p->maxBlocksPerMultiProcessor = (int)d.blocks_per_sm;
    p->reservedSharedMemPerBlock = d.shared_reserved, p->memoryPoolsSupported = 1, p->unifiedFunctionPointers = 1;
}

WS_API cudaError_t cudaGetDeviceCount(int *n) { return *n = 1, cudaSuccess; }
WS_API cudaError_t cudaGetDevice(int *d) { return *d = 0, cudaSuccess; }
WS_API cudaError_t cudaSetDevice(int d) {
    if (!d) return cudaSuccess;
    say("there is one virtual GPU, the program asks for number %d", d);
    return fail(cudaErrorInvalidDevice);
}
WS_API cudaError_t cudaInitDevice(int d, unsigned, unsigned) { return cudaSetDevice(d); }
WS_API cudaError_t cudaChooseDevice(int *d, const cudaDeviceProp *) { return *d = 0, cudaSuccess; }
WS_API cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }
WS_API cudaError_t cudaGetDeviceFlags(unsigned *flags) { return *flags = 0, cudaSuccess; }
WS_API cudaError_t cudaDeviceSynchronize() {
    WS_STICKY;
    return cudaSuccess;
}
WS_API cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
WS_API cudaError_t cudaDeviceReset() { return cudaSuccess; }
WS_API cudaError_t cudaDriverGetVersion(int *v) { return *v = 13040, cudaSuccess; }
WS_API cudaError_t cudaRuntimeGetVersion(int *v) { return *v = 13040, cudaSuccess; }
WS_API cudaError_t cudaProfilerStart() { return cudaSuccess; }
WS_API cudaError_t cudaProfilerStop() { return cudaSuccess; }
WS_API cudaError_t cudaCtxResetPersistingL2Cache() { return cudaSuccess; }
WS_API cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
WS_API cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache *c) { return *c = cudaFuncCachePreferNone, cudaSuccess; }
WS_API cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return cudaSuccess; }
WS_API cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig *c) {
    return *c = cudaSharedMemBankSizeFourByte, cudaSuccess;
}
WS_API cudaError_t cudaDeviceCanAccessPeer(int *can, int, int) { return *can = 0, cudaSuccess; }
WS_API cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) { return fail(cudaErrorInvalidDevice); }
WS_API cudaError_t cudaDeviceDisablePeerAccess(int) { return fail(cudaErrorInvalidDevice); }
WS_API cudaError_t cudaDeviceGetPCIBusId(char *text, int n, int) {
    return snprintf(text, (size_t)n, "0000:00:00.0"), cudaSuccess;
}
WS_API cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *p, int) { return *p = (cudaMemPool_t)16, cudaSuccess; }
WS_API cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *p, int) { return *p = (cudaMemPool_t)16, cudaSuccess; }
WS_API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void *) { return cudaSuccess; }
WS_API cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) { return cudaSuccess; }
WS_API cudaError_t cudaDeviceSetLimit(cudaLimit which, size_t bytes) {
    if (which != cudaLimitMallocHeapSize) return cudaSuccess;
    if (bytes > device().total_bytes / 4) return fail(cudaErrorMemoryAllocation);
    heap_bytes = bytes;
    Message(Op::forget).add(bytes).post();
    return cudaSuccess;
}
WS_API cudaError_t cudaDeviceGetLimit(size_t *bytes, cudaLimit which) {
    *bytes = which == cudaLimitMallocHeapSize ? heap_bytes : which == cudaLimitStackSize ? 1024 : 1 << 20;
    return cudaSuccess;
}
WS_API cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int d) {
    WS_LOCKED;
    if (d) return fail(cudaErrorInvalidDevice);
    fill(p);
    return cudaSuccess;
}
WS_API cudaError_t cudaDeviceGetAttribute(int *v, cudaDeviceAttr a, int number) {
    WS_LOCKED;
    if (number) return fail(cudaErrorInvalidDevice);
    const Device &d = device();
    switch (a) {
        case cudaDevAttrMaxThreadsPerBlock: *v = (int)d.threads_per_block; break;
        case cudaDevAttrMaxBlockDimX:
        case cudaDevAttrMaxBlockDimY: *v = 1024; break;
        case cudaDevAttrMaxBlockDimZ: *v = 64; break;
        case cudaDevAttrMaxGridDimX: *v = 0x7fffffff; break;
        case cudaDevAttrMaxGridDimY:
        case cudaDevAttrMaxGridDimZ: *v = 65535; break;
        case cudaDevAttrMaxSharedMemoryPerBlock: *v = (int)d.shared_per_block; break;
        case cudaDevAttrTotalConstantMemory: *v = 65536; break;
        case cudaDevAttrWarpSize: *v = 32; break;
        case cudaDevAttrMaxPitch: *v = 0x7fffffff; break;
        case cudaDevAttrMaxRegistersPerBlock: *v = (int)d.registers_per_block; break;
        case cudaDevAttrMaxRegistersPerMultiprocessor: *v = (int)d.registers_per_sm; break;
        case cudaDevAttrClockRate: *v = (int)d.clock_khz; break;
        case cudaDevAttrMemoryClockRate: *v = (int)d.memory_clock_khz; break;
        case cudaDevAttrMultiProcessorCount: *v = (int)d.sms; break;
        case cudaDevAttrGlobalMemoryBusWidth: *v = (int)d.bus_bits; break;
        case cudaDevAttrL2CacheSize: *v = (int)d.l2_bytes; break;
        case cudaDevAttrMaxThreadsPerMultiProcessor: *v = (int)d.threads_per_sm; break;
        case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *v = (int)d.shared_per_sm; break;
        case cudaDevAttrMaxSharedMemoryPerBlockOptin: *v = (int)d.shared_optin; break;
        case cudaDevAttrReservedSharedMemoryPerBlock: *v = (int)d.shared_reserved; break;
        case cudaDevAttrMaxBlocksPerMultiprocessor: *v = (int)d.blocks_per_sm; break;
        case cudaDevAttrComputeCapabilityMajor: *v = (int)d.major; break;
        case cudaDevAttrComputeCapabilityMinor: *v = (int)d.minor; break;
        case cudaDevAttrAsyncEngineCount: *v = 2; break;
        case cudaDevAttrTextureAlignment: *v = 512; break;
        case cudaDevAttrCooperativeLaunch:
        case cudaDevAttrManagedMemory:
        case cudaDevAttrConcurrentManagedAccess:
        case cudaDevAttrUnifiedAddressing:
        case cudaDevAttrConcurrentKernels:
        case cudaDevAttrCanMapHostMemory:
        case cudaDevAttrMemoryPoolsSupported:
        case cudaDevAttrStreamPrioritiesSupported:
        case cudaDevAttrGlobalL1CacheSupported:
        case cudaDevAttrLocalL1CacheSupported: *v = 1; break;
        default: *v = 0;  // what this GPU does not have
    }
    return cudaSuccess;
}
