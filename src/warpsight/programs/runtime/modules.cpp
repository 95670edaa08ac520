// What nvcc's code registers before main: images, kernels, variables. An image is sent when something of it is used;
// one that a program loads itself (driver/) at once.
#include <cstring>
#include <unordered_map>

#include "state.hpp"

namespace stand_in {
namespace {
std::vector<Module *> modules;
std::unordered_map<const void *, Kernel *> kernels;
std::unordered_map<const void *, Variable> variables;

constexpr u32 kContainer = 0xba55ed50u;  // first word of what nvcc embeds: a header, then images

std::string container_at(const char *data) {
    u32 magic;
    uint16_t head;
    u64 bytes;
    memcpy(&magic, data, 4), memcpy(&head, data + 6, 2), memcpy(&bytes, data + 8, 8);
    return magic == kContainer ? std::string(data, head + bytes) : std::string();
}

// One container; or, of a program that was linked on the device side too (-rdc), those of all its parts in a row.
std::string image_of(const void *registered) {
    struct Wrapper {
        int magic, version;
        const char *data;
        const char *const *parts;
    };
    const Wrapper *w = (const Wrapper *)registered;
    if (w->version != 2 || !w->parts) return container_at(w->data);
    std::string all;
    for (const char *const *part = w->parts; *part; part++) all += container_at(*part);
    return all;
}

void send(Module *m) {
    if (m->sent) return;
    m->sent = true;
    device();
    Message message(Op::module);
    message.add(m->id).add(m->image).add(m->variables.size());
    for (const Variable &v : m->variables) message.add(v.name).add(v.address).add(v.size).add(v.constant);
    message.ask();
    m->image.clear();
}

void add_variable(void **handle, const void *host, const char *name, size_t size, bool constant, void **managed) {
    WS_LOCKED;
    const u64 address = allocate(size, managed ? Kind::managed : Kind::variable);
    const Variable v{address, size, name, constant, managed};
    variables[host] = v;
    ((Module *)handle)->variables.push_back(v);
    if (managed) *managed = (void *)address;
}
}  // namespace

cudaError_t learn(Kernel *k) {
    if (k->known) return k->problem.empty() ? cudaSuccess : cudaErrorInvalidKernelImage;
    for (Module *m : modules) send(m);
    k->known = true;
    Answer a = Message(Op::kernel).add(k->module).add(k->name).ask();
    k->problem = a.text();
    if (!k->problem.empty()) {
        say("kernel %s: %s", k->name.c_str(), k->problem.c_str());
        return cudaErrorInvalidKernelImage;
    }
    for (u64 *v : {&k->parameter_bytes, &k->registers, &k->shared, &k->local, &k->constant, &k->max_threads})
        *v = a.number();
    for (u64 n = a.number(); n; n--) {
        const u64 offset = a.number(), size = a.number();
        k->parameters.push_back({offset, size});
    }
    return cudaSuccess;
}

Kernel *kernel_of(const void *function) {
    auto it = kernels.find(function);
    if (it != kernels.end()) return it->second;
    for (auto &[host, kernel] : kernels)  // a cudaKernel_t is the kernel itself
        if (kernel == function) return kernel;
    return nullptr;
}

cudaError_t load_image(std::string image, Module **out, std::string *why) {
    device();
    Module *m = new Module;
    m->id = modules.size();
    modules.push_back(m);
    Answer a = Message(Op::look).add(m->id).add(image).ask();
    const cudaError_t error = (cudaError_t)a.number();
    *why = a.text();
    m->sent = error != cudaSuccess;
    if (error != cudaSuccess) return error;
    for (u64 n = a.number(); n; n--) {
        Kernel *k = new Kernel;
        k->module = m->id, k->name = a.text();
        kernels[k] = m->kernels[k->name] = k;
    }
    for (u64 n = a.number(); n; n--) {
        const std::string name = a.text();
        const u64 size = a.number(), constant = a.number(), address = allocate(size, Kind::variable);
        if (!address) return cudaErrorMemoryAllocation;
        m->variables.push_back({address, size, name, constant != 0, nullptr});
    }
    send(m);  // without its image, which is there
    *out = m;
    return cudaSuccess;
}

Module *module_of(const Kernel *k) { return modules[k->module]; }

Variable *variable_of(const void *symbol) {
    auto it = variables.find(symbol);
    if (it == variables.end()) return nullptr;
    for (Module *m : modules) send(m);  // its first bytes come with the module
    return &it->second;
}

}  // namespace stand_in

using namespace stand_in;

WS_API void **__cudaRegisterFatBinary(void *image) {
    WS_LOCKED;
    Module *m = new Module;
    m->id = modules.size();
    m->image = image_of(image);
    modules.push_back(m);
    return (void **)m;
}
WS_API void __cudaRegisterFatBinaryEnd(void **) {}
WS_API void __cudaUnregisterFatBinary(void **) {}
WS_API char __cudaInitModule(void **handle) {
    WS_LOCKED;
    send((Module *)handle);  // host code may read a managed variable before any launch
    return 1;
}
WS_API void __cudaRegisterFunction(void **handle, const char *host, char *, const char *name, int, uint3 *, uint3 *,
                                   dim3 *, dim3 *, int *) {
    WS_LOCKED;
    Kernel *k = new Kernel;
    k->module = ((Module *)handle)->id;
    k->name = name;
    kernels[host] = k;
}
WS_API void __cudaRegisterVar(void **handle, char *host, char *, const char *name, int, size_t size, int constant,
                              int) {
    add_variable(handle, host, name, size, constant != 0, nullptr);
}
WS_API void __cudaRegisterManagedVar(void **handle, void **host, char *, const char *name, int, size_t size,
                                     int constant, int) {
    add_variable(handle, host, name, size, constant != 0, host);
}
WS_API cudaError_t cudaGetSymbolAddress(void **address, const void *symbol) {
    WS_LOCKED;
    const Variable *v = variable_of(symbol);
    if (!v) return fail(cudaErrorInvalidSymbol);
    *address = (void *)v->address;
    return cudaSuccess;
}
WS_API cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol) {
    WS_LOCKED;
    const Variable *v = variable_of(symbol);
    if (!v) return fail(cudaErrorInvalidSymbol);
    *size = v->size;
    return cudaSuccess;
}
