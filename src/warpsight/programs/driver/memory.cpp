// Memory: allocations, pools, copies, fills, and what a pointer is. Pools are names: each allocation is its own, and is
// gone when it is freed.
#include <cstring>
#include <set>

#include "driver.hpp"

struct CUmemPoolHandle_st {
    uint64_t threshold = 0;
    bool host = false;
};

using namespace driver;

namespace {
CUmemPoolHandle_st standard, standard_host{0, true};
std::set<CUmemoryPool> pools;

bool known(CUmemoryPool p) { return p == &standard || p == &standard_host || pools.count(p); }
bool host(const CUmemLocation &where) { return where.type >= CU_MEM_LOCATION_TYPE_HOST && where.type <= 4; }

CUresult allocate(CUdeviceptr *out, size_t bytes) {
    WS_STARTED;
    WS_OUT(out);
    if (!bytes) return CUDA_ERROR_INVALID_VALUE;
    return result(cudaMalloc((void **)out, bytes));
}

CUresult copy(CUdeviceptr to, CUdeviceptr from, size_t bytes, cudaMemcpyKind kind, CUstream stream = nullptr) {
    return result(cudaMemcpyAsync((void *)to, (const void *)from, bytes, kind, stream));
}

// A pattern of several bytes; a fill of memory is one of bytes.
template <class T>
CUresult fill(CUdeviceptr to, T value, size_t count, CUstream stream) {
    T zero{};
    if (value == zero) return result(cudaMemsetAsync((void *)to, 0, count * sizeof(T), stream));
    const std::vector<T> pattern(count, value);
    return copy(to, (CUdeviceptr)pattern.data(), count * sizeof(T), cudaMemcpyHostToDevice, stream);
}

template <class T>
CUresult fill_rows(CUdeviceptr to, size_t pitch, T value, size_t width, size_t height, CUstream s) {
    for (size_t y = 0; y < height; y++)
        if (CUresult e = fill(to + y * pitch, value, width, s)) return e;
    return CUDA_SUCCESS;
}

bool place(const CUDA_MEMCPY2D *c, bool source, CUdeviceptr *at, size_t *pitch) {
    const CUmemorytype type = source ? c->srcMemoryType : c->dstMemoryType;
    if (type == CU_MEMORYTYPE_ARRAY) return false;
    const bool host = type == CU_MEMORYTYPE_HOST;
    const CUdeviceptr base =
        source ? (host ? (CUdeviceptr)c->srcHost : c->srcDevice) : (host ? (CUdeviceptr)c->dstHost : c->dstDevice);
    *pitch = source ? c->srcPitch : c->dstPitch;
    if (!*pitch) *pitch = c->WidthInBytes;
    *at = base + (source ? c->srcY : c->dstY) * *pitch + (source ? c->srcXInBytes : c->dstXInBytes);
    return true;
}

CUresult attribute(void *out, CUpointer_attribute which, CUdeviceptr p) {
    WS_LOCKED;
    u64 base, bytes;
    Kind kind;
    if (!stand_in::on_device((const void *)p) || !stand_in::find_allocation((const void *)p, &base, &bytes, &kind))
        return CUDA_ERROR_INVALID_VALUE;
    const bool host = kind == Kind::host;
    switch (which) {
        case CU_POINTER_ATTRIBUTE_CONTEXT: return cuDevicePrimaryCtxRetain((CUcontext *)out, 0);
        case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
            *(unsigned *)out = host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
            break;
        case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: *(CUdeviceptr *)out = p; break;
        case CU_POINTER_ATTRIBUTE_HOST_POINTER:
            if (kind == Kind::device || kind == Kind::variable) return CUDA_ERROR_INVALID_VALUE;
            *(void **)out = (void *)p;
            break;
        case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: *(unsigned *)out = 1; break;
        case CU_POINTER_ATTRIBUTE_BUFFER_ID: *(unsigned long long *)out = base; break;
        case CU_POINTER_ATTRIBUTE_IS_MANAGED: *(unsigned *)out = kind == Kind::managed; break;
        case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *(int *)out = 0; break;
        case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: *(CUdeviceptr *)out = base; break;
        case CU_POINTER_ATTRIBUTE_RANGE_SIZE: *(size_t *)out = bytes; break;
        case CU_POINTER_ATTRIBUTE_MAPPED: *(unsigned *)out = 1; break;
        case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE: *(unsigned *)out = 0; break;
        case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: *(CUmemoryPool *)out = nullptr; break;
        default: return missing("cuPointerGetAttribute");
    }
    return CUDA_SUCCESS;
}
}  // namespace

WS_API CUresult cuMemGetInfo(size_t *free_bytes, size_t *total) {
    WS_STARTED;
    return result(cudaMemGetInfo(free_bytes, total));
}
WS_API CUresult cuMemAlloc(CUdeviceptr *out, size_t bytes) { return allocate(out, bytes); }
WS_API CUresult cuMemAllocPitch(CUdeviceptr *out, size_t *pitch, size_t width, size_t height, unsigned) {
    return result(cudaMallocPitch((void **)out, pitch, width, height));
}
WS_API CUresult cuMemAllocManaged(CUdeviceptr *out, size_t bytes, unsigned) {
    if (!bytes) return CUDA_ERROR_INVALID_VALUE;
    return result(cudaMallocManaged((void **)out, bytes, cudaMemAttachGlobal));
}
WS_API CUresult cuMemAllocHost(void **out, size_t bytes) { return result(cudaMallocHost(out, bytes)); }
WS_API CUresult cuMemHostAlloc(void **out, size_t bytes, unsigned) { return result(cudaMallocHost(out, bytes)); }
WS_API CUresult cuMemHostGetDevicePointer(CUdeviceptr *out, void *host, unsigned) {
    return result(cudaHostGetDevicePointer((void **)out, host, 0));
}
WS_API CUresult cuMemHostGetFlags(unsigned *flags, void *) { return *flags = 0, CUDA_SUCCESS; }
WS_API CUresult cuMemFree(CUdeviceptr p) { return result(cudaFree((void *)p)); }
WS_API CUresult cuMemFreeHost(void *p) { return result(cudaFree(p)); }
WS_API CUresult cuMemGetAddressRange(CUdeviceptr *base, size_t *bytes, CUdeviceptr p) {
    WS_LOCKED;
    u64 at, size;
    Kind kind;
    if (!stand_in::find_allocation((const void *)p, &at, &size, &kind)) return CUDA_ERROR_NOT_FOUND;
    if (base) *base = at;
    if (bytes) *bytes = size;
    return CUDA_SUCCESS;
}

WS_API CUresult cuMemAllocAsync(CUdeviceptr *out, size_t bytes, CUstream) { return allocate(out, bytes); }
WS_API CUresult cuMemAllocFromPoolAsync(CUdeviceptr *out, size_t bytes, CUmemoryPool pool, CUstream) {
    if (!known(pool)) return CUDA_ERROR_INVALID_VALUE;
    return pool->host ? result(cudaMallocHost((void **)out, bytes)) : allocate(out, bytes);
}
WS_API CUresult cuMemFreeAsync(CUdeviceptr p, CUstream) { return result(cudaFree((void *)p)); }
WS_API CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *out, CUdevice) { return *out = &standard, CUDA_SUCCESS; }
WS_API CUresult cuDeviceGetMemPool(CUmemoryPool *out, CUdevice) { return *out = &standard, CUDA_SUCCESS; }
WS_API CUresult cuDeviceSetMemPool(CUdevice, CUmemoryPool) { return CUDA_SUCCESS; }
WS_API CUresult cuMemGetDefaultMemPool(CUmemoryPool *out, CUmemLocation *where, CUmemAllocationType) {
    return *out = where && host(*where) ? &standard_host : &standard, CUDA_SUCCESS;
}
WS_API CUresult cuMemGetMemPool(CUmemoryPool *out, CUmemLocation *where, CUmemAllocationType type) {
    return cuMemGetDefaultMemPool(out, where, type);
}
WS_API CUresult cuMemPoolCreate(CUmemoryPool *out, const CUmemPoolProps *wanted) {
    WS_LOCKED;
    WS_STARTED;
    if (wanted->handleTypes) return CUDA_ERROR_NOT_SUPPORTED;  // no other process sees this memory
    return pools.insert(*out = new CUmemPoolHandle_st{0, host(wanted->location)}), CUDA_SUCCESS;
}
WS_API CUresult cuMemPoolDestroy(CUmemoryPool pool) {
    WS_LOCKED;
    return pools.erase(pool) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
WS_API CUresult cuMemPoolTrimTo(CUmemoryPool, size_t) { return CUDA_SUCCESS; }
WS_API CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute which, void *value) {
    if (which == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) pool->threshold = *(cuuint64_t *)value;
    return CUDA_SUCCESS;
}
WS_API CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute which, void *value) {
    if (which <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES) return *(int *)value = 1, CUDA_SUCCESS;
    *(cuuint64_t *)value = which == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD ? pool->threshold : stand_in::used_bytes();
    return CUDA_SUCCESS;
}
WS_API CUresult cuMemPoolSetAccess(CUmemoryPool, const CUmemAccessDesc *, size_t) { return CUDA_SUCCESS; }
WS_API CUresult cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool, CUmemLocation *) {
    return *flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE, CUDA_SUCCESS;
}

WS_API CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t n) { return copy(to, from, n, cudaMemcpyDefault); }
WS_API CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s) {
    return copy(to, from, n, cudaMemcpyDefault, s);
}
WS_API CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t n) {
    return copy(to, (CUdeviceptr)from, n, cudaMemcpyHostToDevice);
}
WS_API CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t n, CUstream s) {
    return copy(to, (CUdeviceptr)from, n, cudaMemcpyHostToDevice, s);
}
WS_API CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t n) {
    return copy((CUdeviceptr)to, from, n, cudaMemcpyDeviceToHost);
}
WS_API CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t n, CUstream s) {
    return copy((CUdeviceptr)to, from, n, cudaMemcpyDeviceToHost, s);
}
WS_API CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t n) {
    return copy(to, from, n, cudaMemcpyDeviceToDevice);
}
WS_API CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s) {
    return copy(to, from, n, cudaMemcpyDeviceToDevice, s);
}
WS_API CUresult cuMemcpyBatchAsync(CUdeviceptr *to, CUdeviceptr *from, size_t *bytes, size_t count,
                                   CUmemcpyAttributes *, size_t *, size_t, CUstream s) {
    for (size_t i = 0; i < count; i++)
        if (CUresult e = copy(to[i], from[i], bytes[i], cudaMemcpyDefault, s)) return e;
    return CUDA_SUCCESS;
}
WS_API CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *c, CUstream s) {
    CUdeviceptr to, from;
    size_t to_pitch, from_pitch;
    if (!place(c, false, &to, &to_pitch) || !place(c, true, &from, &from_pitch))
        return missing("cuMemcpy2D", "of arrays");
    return result(cudaMemcpy2DAsync((void *)to, to_pitch, (void *)from, from_pitch, c->WidthInBytes, c->Height,
                                    cudaMemcpyDefault, s));
}
WS_API CUresult cuMemcpy2D(const CUDA_MEMCPY2D *c) { return cuMemcpy2DAsync(c, nullptr); }
WS_API CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D *c) { return cuMemcpy2DAsync(c, nullptr); }

WS_API CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char v, size_t n, CUstream s) {
    return result(cudaMemsetAsync((void *)to, v, n, s));
}
WS_API CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short v, size_t n, CUstream s) { return fill(to, v, n, s); }
WS_API CUresult cuMemsetD32Async(CUdeviceptr to, unsigned v, size_t n, CUstream s) { return fill(to, v, n, s); }
WS_API CUresult cuMemsetD8(CUdeviceptr to, unsigned char v, size_t n) { return cuMemsetD8Async(to, v, n, nullptr); }
WS_API CUresult cuMemsetD16(CUdeviceptr to, unsigned short v, size_t n) { return fill(to, v, n, nullptr); }
WS_API CUresult cuMemsetD32(CUdeviceptr to, unsigned v, size_t n) { return fill(to, v, n, nullptr); }
WS_API CUresult cuMemsetD2D8(CUdeviceptr to, size_t pitch, unsigned char v, size_t w, size_t h) {
    return fill_rows(to, pitch, v, w, h, nullptr);
}
WS_API CUresult cuMemsetD2D32(CUdeviceptr to, size_t pitch, unsigned v, size_t w, size_t h) {
    return fill_rows(to, pitch, v, w, h, nullptr);
}
WS_API CUresult cuMemPrefetchAsync(CUdeviceptr, size_t, CUmemLocation, unsigned, CUstream) { return CUDA_SUCCESS; }
WS_API CUresult cuMemAdvise(CUdeviceptr, size_t, CUmem_advise, CUmemLocation) { return CUDA_SUCCESS; }

WS_API CUresult cuPointerGetAttribute(void *out, CUpointer_attribute which, CUdeviceptr p) {
    WS_STARTED;
    WS_OUT(out);
    return attribute(out, which, p);
}
// Unlike the one above, a pointer that is not ours is no error here: it has zeros.
WS_API CUresult cuPointerGetAttributes(unsigned n, CUpointer_attribute *which, void **out, CUdeviceptr p) {
    WS_STARTED;
    for (unsigned i = 0; i < n; i++)
        if (attribute(out[i], which[i], p)) {
            const bool wide =
                which[i] == CU_POINTER_ATTRIBUTE_CONTEXT || which[i] == CU_POINTER_ATTRIBUTE_DEVICE_POINTER ||
                which[i] == CU_POINTER_ATTRIBUTE_HOST_POINTER || which[i] == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR ||
                which[i] == CU_POINTER_ATTRIBUTE_RANGE_SIZE || which[i] == CU_POINTER_ATTRIBUTE_BUFFER_ID ||
                which[i] == CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE;
            memset(out[i], 0, wide ? 8 : 4);
            if (which[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) *(int *)out[i] = -2;
        }
    return CUDA_SUCCESS;
}
WS_API CUresult cuPointerSetAttribute(const void *, CUpointer_attribute, CUdeviceptr) { return CUDA_SUCCESS; }
