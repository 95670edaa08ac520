// Modules and libraries: PTX, machine code (cubin) or a container of both; their kernels, variables and attributes. A
// library is a module here, and a CUkernel the same thing as its CUfunction. What was unloaded stays until the end.
#include <elf.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "driver.hpp"

namespace driver {
namespace {

constexpr u32 kContainer = 0xba55ed50u, kWrapper = 0x466243b1u;

// A cubin's length stands in its own tables: the end of whatever lies last.
std::string elf_at(const char *p) {
    Elf64_Ehdr head;
    memcpy(&head, p, sizeof head);
    u64 end = std::max<u64>(head.e_shoff + (u64)head.e_shnum * head.e_shentsize,
                            head.e_phoff + (u64)head.e_phnum * head.e_phentsize);
    for (int i = 0; i < head.e_shnum; i++) {
        Elf64_Shdr s;
        memcpy(&s, p + head.e_shoff + (u64)i * head.e_shentsize, sizeof s);
        if (s.sh_type != SHT_NOBITS) end = std::max<u64>(end, s.sh_offset + s.sh_size);
    }
    return {p, end};
}

std::string container_at(const char *p) {
    uint16_t head;
    u64 bytes;
    memcpy(&head, p + 6, 2), memcpy(&bytes, p + 8, 8);
    return {p, head + bytes};
}

std::string image_at(const void *code) {
    const char *p = (const char *)code;
    u32 magic;
    memcpy(&magic, p, 1);  // a text may be one byte long
    if ((char)magic == 0x7f && p[1] == 'E' && p[2] == 'L' && p[3] == 'F') return elf_at(p);
    if (strnlen(p, 4) < 4) return {p, strnlen(p, 4)};
    memcpy(&magic, p, 4);
    if (magic == kContainer) return container_at(p);
    if (magic == kWrapper) return container_at(*(const char *const *)(p + 8));
    return p;  // PTX is a text with a zero behind it
}

CUresult load(Module **out, const void *code) {
    WS_LOCKED;
    WS_STARTED;
    WS_OUT(out);
    WS_OUT(code);
    std::string why;
    const cudaError_t error = stand_in::load_image(image_at(code), out, &why);
    if (!why.empty()) say("a module cannot be loaded: %s", why.c_str());
    return result(error);
}

CUresult load_file(Module **out, const char *path) {
    WS_OUT(path);
    std::ifstream file(path, std::ios::binary);
    if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
    const std::string all{std::istreambuf_iterator<char>(file), {}};
    return load(out, all.c_str());
}

CUresult find(Kernel **out, Module *m, const char *name) {
    WS_LOCKED;
    WS_OUT(out);
    WS_OUT(name);
    auto it = m->kernels.find(name);
    if (it == m->kernels.end()) return CUDA_ERROR_NOT_FOUND;
    return *out = it->second, CUDA_SUCCESS;
}

CUresult find_variable(CUdeviceptr *at, size_t *bytes, Module *m, const char *name) {
    WS_LOCKED;
    WS_OUT(name);
    for (const auto &v : m->variables)
        if (v.name == name) {
            if (at) *at = v.address;
            if (bytes) *bytes = v.size;
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_NOT_FOUND;
}

CUresult attribute_of(int *out, CUfunction_attribute which, Kernel *k) {
    WS_OUT(out);
    cudaFuncAttributes a;
    if (cudaError_t e = cudaFuncGetAttributes(&a, k)) return result(e);
    switch (which) {
        case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *out = a.maxThreadsPerBlock; break;
        case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *out = (int)a.sharedSizeBytes; break;
        case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *out = (int)a.constSizeBytes; break;
        case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *out = (int)a.localSizeBytes; break;
        case CU_FUNC_ATTRIBUTE_NUM_REGS: *out = a.numRegs; break;
        case CU_FUNC_ATTRIBUTE_PTX_VERSION: *out = a.ptxVersion; break;
        case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *out = a.binaryVersion; break;
        case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *out = a.maxDynamicSharedSizeBytes; break;
        case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *out = -1; break;
        default: *out = 0;
    }
    return CUDA_SUCCESS;
}

CUresult set_attribute(CUfunction_attribute which, int value, Kernel *k) {
    if (which == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
        return result(cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, value));
    return CUDA_SUCCESS;
}

CUresult parameter(Kernel *k, size_t index, size_t *offset, size_t *size) {
    WS_LOCKED;
    cudaFuncAttributes a;
    if (cudaError_t e = cudaFuncGetAttributes(&a, k)) return result(e);  // it is asked for, so its parameters are known
    if (index >= k->parameters.size()) return CUDA_ERROR_INVALID_VALUE;
    if (offset) *offset = k->parameters[index].offset;
    if (size) *size = k->parameters[index].size;
    return CUDA_SUCCESS;
}

template <class Handle>
CUresult list(Handle *out, unsigned most, Module *m) {
    unsigned n = 0;
    for (const auto &[name, kernel] : m->kernels)
        if (n < most) out[n++] = (Handle)kernel;
    return CUDA_SUCCESS;
}

}  // namespace

Kernel *kernel_of(CUfunction f) { return (Kernel *)f; }

}  // namespace driver

using namespace driver;

WS_API CUresult cuModuleLoadData(CUmodule *out, const void *code) { return load((Module **)out, code); }
WS_API CUresult cuModuleLoadDataEx(CUmodule *out, const void *code, unsigned, CUjit_option *, void **) {
    return load((Module **)out, code);
}
WS_API CUresult cuModuleLoadFatBinary(CUmodule *out, const void *code) { return load((Module **)out, code); }
WS_API CUresult cuModuleLoad(CUmodule *out, const char *path) { return load_file((Module **)out, path); }
WS_API CUresult cuModuleUnload(CUmodule) { return CUDA_SUCCESS; }
WS_API CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode) {
    return *mode = CU_MODULE_LAZY_LOADING, CUDA_SUCCESS;
}
WS_API CUresult cuModuleGetFunction(CUfunction *out, CUmodule m, const char *name) {
    return find((Kernel **)out, (Module *)m, name);
}
WS_API CUresult cuModuleGetFunctionCount(unsigned *count, CUmodule m) {
    return *count = (unsigned)((Module *)m)->kernels.size(), CUDA_SUCCESS;
}
WS_API CUresult cuModuleEnumerateFunctions(CUfunction *out, unsigned most, CUmodule m) {
    return list(out, most, (Module *)m);
}
WS_API CUresult cuModuleGetGlobal(CUdeviceptr *at, size_t *bytes, CUmodule m, const char *name) {
    return find_variable(at, bytes, (Module *)m, name);
}

WS_API CUresult cuLibraryLoadData(CUlibrary *out, const void *code, CUjit_option *, void **, unsigned,
                                  CUlibraryOption *, void **, unsigned) {
    return load((Module **)out, code);
}
WS_API CUresult cuLibraryLoadFromFile(CUlibrary *out, const char *path, CUjit_option *, void **, unsigned,
                                      CUlibraryOption *, void **, unsigned) {
    return load_file((Module **)out, path);
}
WS_API CUresult cuLibraryUnload(CUlibrary) { return CUDA_SUCCESS; }
WS_API CUresult cuLibraryGetKernel(CUkernel *out, CUlibrary l, const char *name) {
    return find((Kernel **)out, (Module *)l, name);
}
WS_API CUresult cuLibraryGetKernelCount(unsigned *count, CUlibrary l) {
    return *count = (unsigned)((Module *)l)->kernels.size(), CUDA_SUCCESS;
}
WS_API CUresult cuLibraryEnumerateKernels(CUkernel *out, unsigned most, CUlibrary l) {
    return list(out, most, (Module *)l);
}
WS_API CUresult cuLibraryGetModule(CUmodule *out, CUlibrary l) { return *out = (CUmodule)l, CUDA_SUCCESS; }
WS_API CUresult cuLibraryGetGlobal(CUdeviceptr *at, size_t *bytes, CUlibrary l, const char *name) {
    return find_variable(at, bytes, (Module *)l, name);
}
WS_API CUresult cuLibraryGetManaged(CUdeviceptr *at, size_t *bytes, CUlibrary l, const char *name) {
    return find_variable(at, bytes, (Module *)l, name);
}

WS_API CUresult cuKernelGetFunction(CUfunction *out, CUkernel k) { return *out = (CUfunction)k, CUDA_SUCCESS; }
WS_API CUresult cuKernelGetName(const char **name, CUkernel k) {
    return *name = ((Kernel *)k)->name.c_str(), CUDA_SUCCESS;
}
WS_API CUresult cuKernelGetLibrary(CUlibrary *out, CUkernel k) {
    return *out = (CUlibrary)stand_in::module_of((Kernel *)k), CUDA_SUCCESS;
}
WS_API CUresult cuKernelGetAttribute(int *out, CUfunction_attribute which, CUkernel k, CUdevice) {
    return attribute_of(out, which, (Kernel *)k);
}
WS_API CUresult cuKernelSetAttribute(CUfunction_attribute which, int value, CUkernel k, CUdevice) {
    return set_attribute(which, value, (Kernel *)k);
}
WS_API CUresult cuKernelSetCacheConfig(CUkernel, CUfunc_cache, CUdevice) { return CUDA_SUCCESS; }
WS_API CUresult cuKernelGetParamInfo(CUkernel k, size_t index, size_t *offset, size_t *size) {
    return parameter((Kernel *)k, index, offset, size);
}
WS_API CUresult cuFuncGetName(const char **name, CUfunction f) {
    return *name = kernel_of(f)->name.c_str(), CUDA_SUCCESS;
}
WS_API CUresult cuFuncGetModule(CUmodule *out, CUfunction f) {
    return *out = (CUmodule)stand_in::module_of(kernel_of(f)), CUDA_SUCCESS;
}
WS_API CUresult cuFuncGetAttribute(int *out, CUfunction_attribute which, CUfunction f) {
    return attribute_of(out, which, kernel_of(f));
}
WS_API CUresult cuFuncSetAttribute(CUfunction f, CUfunction_attribute which, int value) {
    return set_attribute(which, value, kernel_of(f));
}
WS_API CUresult cuFuncSetCacheConfig(CUfunction, CUfunc_cache) { return CUDA_SUCCESS; }
WS_API CUresult cuFuncGetParamInfo(CUfunction f, size_t index, size_t *offset, size_t *size) {
    return parameter(kernel_of(f), index, offset, size);
}
WS_API CUresult cuFuncLoad(CUfunction) { return CUDA_SUCCESS; }
WS_API CUresult cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction) {
    return *state = CU_FUNCTION_LOADING_STATE_LOADED, CUDA_SUCCESS;
}
