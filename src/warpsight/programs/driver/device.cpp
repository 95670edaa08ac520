// The start, the one device with its numbers, the names of errors, and functions by their names.
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "driver.hpp"

namespace driver {
namespace {
bool is_started = false;

// Names of functions whose meaning changed with a version: until then the plain name, from then on the other.
constexpr struct {
    const char *name;
    int version;
    const char *later;
} kChanged[] = {
    {"cuCtxGetDevice", 13000, "cuCtxGetDevice_v2"},
    {"cuCtxSynchronize", 13000, "cuCtxSynchronize_v2"},
    {"cuLaunchHostFunc", 13010, "cuLaunchHostFunc_v2"},
    {"cuStreamGetCtx", 12050, "cuStreamGetCtx_v2"},
    {"cuMemAdvise", 12020, "cuMemAdvise_v2"},
    {"cuMemPrefetchAsync", 12020, "cuMemPrefetchAsync_v2"},
    {"cuCtxCreate", 12050, "cuCtxCreate_v4"},
    {"cuStreamGetCaptureInfo", 12030, "cuStreamGetCaptureInfo_v3"},
    {"cuGraphInstantiate", 11000, "cuGraphInstantiateWithFlags"},
};

void *exported(const std::string &name) {
    static void *self = [] {
        Dl_info here;
        dladdr((void *)&symbol, &here);
        return dlopen(here.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    }();
    return dlsym(self, name.c_str());
}
}  // namespace

CUresult result(cudaError_t error) {
    switch (error) {
        case cudaErrorInvalidConfiguration:
        case cudaErrorInvalidPitchValue:
        case cudaErrorInvalidMemcpyDirection: return CUDA_ERROR_INVALID_VALUE;
        case cudaErrorInvalidSymbol: return CUDA_ERROR_NOT_FOUND;
        case cudaErrorInvalidDeviceFunction: return CUDA_ERROR_INVALID_HANDLE;
        default: return (CUresult)error;  // the others have one number in both
    }
}

CUresult missing(const char *name, const char *why) { return result(stand_in::not_provided(name, why)); }

int missing_here(const char *name);
int missing_here(const char *name) { return (int)missing(name); }

bool started() { return is_started; }

CUuuid uuid() {
    CUuuid made;
    u64 hash = 0xcbf29ce484222325ull;
    for (int i = 0; i < 16; i++) {
        for (char c : device().name) hash = (hash ^ (unsigned char)c ^ (u64)i) * 0x100000001b3ull;
        made.bytes[i] = (char)(hash >> 56);
    }
    return made;
}

bool gpu_is_visible() {
    const char *set = getenv("CUDA_VISIBLE_DEVICES");
    if (!set) return true;
    std::string first(set), own = "GPU-";
    first = first.substr(0, first.find(','));
    const CUuuid id = uuid();
    char part[3];
    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) own += '-';
        snprintf(part, sizeof part, "%02x", (unsigned char)id.bytes[i]);
        own += part;
    }
    return first == "0" || (first.size() > 4 && own.compare(0, first.size(), first) == 0);
}

void *symbol(const char *name, int version) {
    for (const auto &one : kChanged)
        if (!strcmp(one.name, name)) return exported(version >= one.version ? one.later : name);
    for (const char *suffix : {"_v3", "_v2", ""})
        if (void *found = exported(std::string(name) + suffix)) return found;
    return nullptr;
}

}  // namespace driver

using namespace driver;

WS_API CUresult cuInit(unsigned flags) {
    if (flags) return CUDA_ERROR_INVALID_VALUE;
    if (!gpu_is_visible()) return CUDA_ERROR_NO_DEVICE;
    is_started = true;
    return CUDA_SUCCESS;
}
WS_API CUresult cuDriverGetVersion(int *version) {
    WS_OUT(version);
    return *version = 13040, CUDA_SUCCESS;
}
WS_API CUresult cuGetProcAddress(const char *name, void **found, int version, cuuint64_t,
                                 CUdriverProcAddressQueryResult *status) {
    WS_OUT(name);
    WS_OUT(found);
    *found = symbol(name, version);
    if (status) *status = *found ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return *found ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

WS_API CUresult cuGetErrorName(CUresult error, const char **name) {
    WS_OUT(name);
    switch (error) {
#define NAME(e) \
    case e: *name = #e; return CUDA_SUCCESS;
        NAME(CUDA_SUCCESS)
        NAME(CUDA_ERROR_INVALID_VALUE)
        NAME(CUDA_ERROR_OUT_OF_MEMORY)
        NAME(CUDA_ERROR_NOT_INITIALIZED)
        NAME(CUDA_ERROR_NO_DEVICE)
        NAME(CUDA_ERROR_INVALID_DEVICE)
        NAME(CUDA_ERROR_INVALID_IMAGE)
        NAME(CUDA_ERROR_INVALID_CONTEXT)
        NAME(CUDA_ERROR_NO_BINARY_FOR_GPU)
        NAME(CUDA_ERROR_INVALID_PTX)
        NAME(CUDA_ERROR_INVALID_SOURCE)
        NAME(CUDA_ERROR_FILE_NOT_FOUND)
        NAME(CUDA_ERROR_INVALID_HANDLE)
        NAME(CUDA_ERROR_ILLEGAL_STATE)
        NAME(CUDA_ERROR_NOT_FOUND)
        NAME(CUDA_ERROR_NOT_READY)
        NAME(CUDA_ERROR_ILLEGAL_ADDRESS)
        NAME(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES)
        NAME(CUDA_ERROR_LAUNCH_TIMEOUT)
        NAME(CUDA_ERROR_ASSERT)
        NAME(CUDA_ERROR_HARDWARE_STACK_ERROR)
        NAME(CUDA_ERROR_ILLEGAL_INSTRUCTION)
        NAME(CUDA_ERROR_MISALIGNED_ADDRESS)
        NAME(CUDA_ERROR_INVALID_PC)
        NAME(CUDA_ERROR_LAUNCH_FAILED)
        NAME(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE)
        NAME(CUDA_ERROR_NOT_SUPPORTED)
        NAME(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)
        NAME(CUDA_ERROR_UNKNOWN)
#undef NAME
        default: *name = nullptr; return CUDA_ERROR_INVALID_VALUE;
    }
}
WS_API CUresult cuGetErrorString(CUresult error, const char **text) {
    WS_OUT(text);
    *text = error == CUDA_ERROR_INVALID_CONTEXT ? "invalid device context" : cudaGetErrorString((cudaError_t)error);
    return CUDA_SUCCESS;
}

WS_API CUresult cuDeviceGetCount(int *count) {
    WS_STARTED;
    WS_OUT(count);
    return *count = 1, CUDA_SUCCESS;
}
WS_API CUresult cuDeviceGet(CUdevice *found, int number) {
    WS_STARTED;
    WS_OUT(found);
    if (number) return CUDA_ERROR_INVALID_DEVICE;
    return *found = 0, CUDA_SUCCESS;
}
WS_API CUresult cuDeviceGetName(char *name, int size, CUdevice number) {
    WS_STARTED;
    WS_OUT(name);
    if (number || size < 1) return CUDA_ERROR_INVALID_VALUE;
    return snprintf(name, (size_t)size, "%s", device().name.c_str()), CUDA_SUCCESS;
}
WS_API CUresult cuDeviceGetUuid(CUuuid *id, CUdevice number) {
    WS_STARTED;
    WS_OUT(id);
    return number ? CUDA_ERROR_INVALID_DEVICE : (*id = uuid(), CUDA_SUCCESS);
}
WS_API CUresult cuDeviceTotalMem(size_t *bytes, CUdevice number) {
    WS_STARTED;
    WS_OUT(bytes);
    return number ? CUDA_ERROR_INVALID_DEVICE : (*bytes = device().total_bytes, CUDA_SUCCESS);
}
WS_API CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice) {
    WS_STARTED;
    return *major = (int)device().major, *minor = (int)device().minor, CUDA_SUCCESS;
}
WS_API CUresult cuDeviceGetPCIBusId(char *text, int size, CUdevice) {
    WS_OUT(text);
    return snprintf(text, (size_t)size, "0000:00:00.0"), CUDA_SUCCESS;
}
WS_API CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice number) {
    WS_STARTED;
    WS_OUT(value);
    if (number) return CUDA_ERROR_INVALID_DEVICE;
    if (attribute == CU_DEVICE_ATTRIBUTE_HOST_MEMORY_POOLS_SUPPORTED) return *value = 1, CUDA_SUCCESS;
    return result(cudaDeviceGetAttribute(value, (cudaDeviceAttr)attribute, 0));  // one numbering in both
}
WS_API CUresult cuDeviceCanAccessPeer(int *can, CUdevice, CUdevice) { return *can = 0, CUDA_SUCCESS; }
WS_API CUresult cuProfilerStart() { return CUDA_SUCCESS; }
WS_API CUresult cuProfilerStop() { return CUDA_SUCCESS; }
// Tables of functions that have no names, for NVIDIA's own libraries: a program with their runtime linked in needs
// them.
WS_API CUresult cuGetExportTable(const void **table, const CUuuid *) {
    WS_OUT(table);
    return *table = nullptr, CUDA_ERROR_NOT_FOUND;
}
