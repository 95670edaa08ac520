// Host memory that a program registers: its pages become pages of device memory, so kernels reach it under the address
// that cudaHostGetDevicePointer tells. A kernel that takes the host's own address for it is still out of bounds.
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

#include "state.hpp"

namespace stand_in {
namespace {
struct Registered {
    u64 bytes, at;  // whole pages, and where device memory has them
};
std::map<u64, Registered> registered;

const std::pair<const u64, Registered> *registered_at(const void *p) {
    auto it = registered.upper_bound((u64)p);
    if (it == registered.begin()) return nullptr;
    --it;
    return (u64)p - it->first < it->second.bytes ? &*it : nullptr;
}

bool on_this_stack(u64 low, u64 high) {
    const u64 here = (u64)__builtin_frame_address(0);
    return here + 65536 > low && here < high + 65536;
}

cudaError_t share(u64 low, u64 bytes) {
    if (on_this_stack(low, low + bytes)) return not_provided("cudaHostRegister", "memory on the stack");
    const u64 at = allocate(bytes, Kind::host, 4096);
    const char *memory = getenv("WARPSIGHT_MEMORY");
    if (!at || !memory) return fail(cudaErrorMemoryAllocation);
    memcpy((void *)at, (void *)low, bytes);
    void *shared =
        mmap((void *)low, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, atoi(memory), (off_t)(at - kBase));
    if (shared != (void *)low) return release(at), fail(cudaErrorMemoryAllocation);
    registered[low] = {bytes, at};
    return cudaSuccess;
}
}  // namespace
}  // namespace stand_in

using namespace stand_in;

WS_API cudaError_t cudaHostRegister(void *p, size_t n, unsigned) {
    WS_LOCKED;
    WS_STICKY;
    if (!p || !n) return fail(cudaErrorInvalidValue);
    device();
    if (on_device(p)) return cudaSuccess;
    const u64 low = (u64)p / 4096 * 4096, high = round_up((u64)p + n, 4096);
    for (const auto &[at, one] : registered)
        if (at < high && low < at + one.bytes) return fail(cudaErrorHostMemoryAlreadyRegistered);
    return share(low, high - low);
}
WS_API cudaError_t cudaHostUnregister(void *p) {
    WS_LOCKED;
    device();
    if (on_device(p)) return cudaSuccess;
    const auto *found = registered_at(p);
    if (!found) return fail(cudaErrorHostMemoryNotRegistered);
    const u64 low = found->first, bytes = found->second.bytes, at = found->second.at;
    mmap((void *)low, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    memcpy((void *)low, (void *)at, bytes);
    registered.erase(low);
    release(at);
    return cudaSuccess;
}
WS_API cudaError_t cudaHostGetFlags(unsigned *flags, void *) { return *flags = 0, cudaSuccess; }
WS_API cudaError_t cudaHostGetDevicePointer(void **out, void *host, unsigned) {
    WS_LOCKED;
    device();
    const auto *found = registered_at(host);
    if (!found && !on_device(host)) return fail(cudaErrorInvalidValue);
    *out = found ? (char *)found->second.at + ((u64)host - found->first) : host;
    return cudaSuccess;
}
WS_API cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *out, const void *p) {
    WS_LOCKED;
    memset(out, 0, sizeof *out);
    u64 base, bytes;
    Kind kind = Kind::device;
    out->type = cudaMemoryTypeUnregistered, out->hostPointer = (void *)p;
    if (const auto *found = registered_at(p)) {
        out->type = cudaMemoryTypeHost, out->devicePointer = (char *)found->second.at + ((u64)p - found->first);
        return cudaSuccess;
    }
    if (!find_allocation(p, &base, &bytes, &kind)) return cudaSuccess;
    out->type = kind == Kind::host      ? cudaMemoryTypeHost
                : kind == Kind::managed ? cudaMemoryTypeManaged
                                        : cudaMemoryTypeDevice;
    out->devicePointer = (void *)p;
    if (kind == Kind::device || kind == Kind::variable) out->hostPointer = nullptr;
    return cudaSuccess;
}
