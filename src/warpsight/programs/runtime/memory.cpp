// Memory: allocation, copies and fills. Device memory is mapped here, so a copy is a copy of bytes; the other side is
// told of each, since it marks what has been written and counts what copies would take on the link.
#include <algorithm>
#include <cstring>

#include "state.hpp"

namespace stand_in {
namespace {

// Direction: 0 host to host, 1 host to device, 2 device to host, 3 within the device (the numbers of cudaMemcpyKind).
u64 direction(const void *to, const void *from) {
    u64 base, bytes;
    Kind kind;
    auto there = [&](const void *p) {
        return on_device(p) && find_allocation(p, &base, &bytes, &kind) && kind != Kind::host;
    };
    return (there(to) ? 1u : 0u) | (there(from) ? 2u : 0u);
}

void spend(u64 way, u64 bytes) {
    const Device &d = device();
    if (way == 1 || way == 2)
        clock_us += (double)d.link_ns / 1e3 + (double)bytes / (double)std::max<u64>(1, d.link_bytes_per_us);
    if (way == 3)
        clock_us += (double)d.copy_ns / 1e3 + 2.0 * (double)bytes / (double)std::max<u64>(1, d.dram_bytes_per_us);
}

bool allowed(const void *to, const void *from, u64 bytes, cudaMemcpyKind kind) {
    const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (to_device && !on_device(to)) return say("the destination %p of a copy is no device memory", to), false;
    if (from_device && !on_device(from)) return say("the source %p of a copy is no device memory", from), false;
    if (!whole(to, bytes)) return say("a copy of %zu bytes runs past its destination %p", (size_t)bytes, to), false;
    if (!whole(from, bytes)) return say("a copy of %zu bytes runs past its source %p", (size_t)bytes, from), false;
    return true;
}

u64 span(u64 row, u64 rows, u64 pitch) { return rows ? (rows - 1) * pitch + row : 0; }

}  // namespace

void note_copy(const void *to, const void *from, u64 bytes, u64 row, u64 rows, u64 to_pitch, u64 from_pitch) {
    const u64 way = direction(to, from);
    spend(way, bytes);
    Message m(Op::copy);
    m.add(on_device(to) ? (u64)to : 0).add(on_device(from) ? (u64)from : 0).add(way);
    m.add(row).add(rows).add(to_pitch).add(from_pitch).post();
}

cudaError_t copy_bytes(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
    WS_LOCKED;
    WS_STICKY;
    if (!bytes) return cudaSuccess;
    if (!to || !from || (int)kind < 0 || (int)kind > 4 || !allowed(to, from, bytes, kind))
        return fail(cudaErrorInvalidValue);
    memmove(to, from, bytes);
    note_copy(to, from, bytes, bytes, 1, bytes, bytes);
    return cudaSuccess;
}

cudaError_t fill_bytes(void *to, int value, size_t bytes) {
    WS_LOCKED;
    WS_STICKY;
    if (!bytes) return cudaSuccess;
    if (!on_device(to) || !whole(to, bytes)) {
        say("cudaMemset of %zu bytes at %p does not lie in one allocation", bytes, to);
        return fail(cudaErrorInvalidValue);
    }
    memset(to, value, bytes);
    clock_us += (double)device().copy_ns / 1e3 + (double)bytes / (double)std::max<u64>(1, device().dram_bytes_per_us);
    Message(Op::copy).add((u64)to).add(0).add(4).add(bytes).add(1).add(bytes).add(bytes).post();
    return cudaSuccess;
}

cudaError_t copy_rows(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t row, size_t rows,
                      cudaMemcpyKind kind) {
    WS_LOCKED;
    WS_STICKY;
    if (!row || !rows) return cudaSuccess;
    if (row > to_pitch || row > from_pitch) return fail(cudaErrorInvalidPitchValue);
    if (!allowed(to, from, 1, kind) || !whole(to, span(row, rows, to_pitch)) ||
        !whole(from, span(row, rows, from_pitch)))
        return fail(cudaErrorInvalidValue);
    for (size_t i = 0; i < rows; i++) memmove((char *)to + i * to_pitch, (const char *)from + i * from_pitch, row);
    note_copy(to, from, row * rows, row, rows, to_pitch, from_pitch);
    return cudaSuccess;
}

static cudaError_t give(void **p, size_t bytes, Kind kind) {
    WS_LOCKED;
    WS_STICKY;
    if (!p) return fail(cudaErrorInvalidValue);
    *p = nullptr;
    if (!bytes) return cudaSuccess;
    const u64 at = allocate(bytes, kind);
    if (!at) return fail(cudaErrorMemoryAllocation);
    *p = (void *)at;
    return cudaSuccess;
}

// Memory of a graph is there from when its node is made; a launch after it was freed has it at the same place again.
Step again_step(u64 at, u64 bytes) {
    return [=] {
        u64 base, size;
        Kind kind;
        if (!at || find_allocation((void *)at, &base, &size, &kind) || allocate_at(at, bytes, Kind::device))
            return cudaSuccess;
        return fail(cudaErrorMemoryAllocation);
    };
}

static cudaError_t take(void *p) {
    WS_LOCKED;
    WS_STICKY;
    device();
    return !p || release((u64)p) ? cudaSuccess : fail(cudaErrorInvalidValue);
}

}  // namespace stand_in

using namespace stand_in;

WS_API cudaError_t cudaMalloc(void **p, size_t n) { return give(p, n, Kind::device); }
WS_API cudaError_t cudaMallocManaged(void **p, size_t n, unsigned) { return give(p, n, Kind::managed); }
WS_API cudaError_t cudaMallocHost(void **p, size_t n) { return give(p, n, Kind::host); }
WS_API cudaError_t cudaHostAlloc(void **p, size_t n, unsigned) { return give(p, n, Kind::host); }
WS_API cudaError_t cudaMallocAsync(void **p, size_t n, cudaStream_t s) {
    if (cudaError_t e = give(p, n, Kind::device)) return e;
    captured(s, again_step((u64)*p, n), cudaGraphNodeTypeMemAlloc);
    return cudaSuccess;
}
WS_API cudaError_t cudaMallocFromPoolAsync(void **p, size_t n, cudaMemPool_t, cudaStream_t s) {
    return cudaMallocAsync(p, n, s);
}
WS_API cudaError_t cudaMallocPitch(void **p, size_t *pitch, size_t width, size_t height) {
    *pitch = round_up(width, 512);
    return give(p, *pitch * height, Kind::device);
}
WS_API cudaError_t cudaMalloc3D(cudaPitchedPtr *p, cudaExtent e) {
    p->pitch = round_up(e.width, 512), p->xsize = e.width, p->ysize = e.height;
    return give(&p->ptr, p->pitch * e.height * e.depth, Kind::device);
}
WS_API cudaError_t cudaFree(void *p) { return take(p); }
WS_API cudaError_t cudaFreeHost(void *p) { return take(p); }
WS_API cudaError_t cudaFreeAsync(void *p, cudaStream_t s) {
    return captured(s, nullptr, cudaGraphNodeTypeMemFree) ? cudaSuccess : take(p);
}
WS_API cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total) {
    WS_LOCKED;
    *total = device().total_bytes, *free_bytes = device().total_bytes - used_bytes();
    return cudaSuccess;
}
WS_API cudaError_t cudaMemcpy(void *to, const void *from, size_t n, cudaMemcpyKind k) {
    return copy_bytes(to, from, n, k);
}
WS_API cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t n, cudaMemcpyKind k, cudaStream_t s) {
    if (captured(s, [=] { return copy_bytes(to, from, n, k); }, cudaGraphNodeTypeMemcpy)) return cudaSuccess;
    return copy_bytes(to, from, n, k);
}
WS_API cudaError_t cudaMemcpyPeer(void *to, int, const void *from, int, size_t n) {
    return copy_bytes(to, from, n, cudaMemcpyDeviceToDevice);
}
WS_API cudaError_t cudaMemcpyPeerAsync(void *to, int, const void *from, int, size_t n, cudaStream_t s) {
    return cudaMemcpyAsync(to, from, n, cudaMemcpyDeviceToDevice, s);
}
WS_API cudaError_t cudaMemcpy2D(void *to, size_t tp, const void *from, size_t fp, size_t w, size_t h,
                                cudaMemcpyKind k) {
    return copy_rows(to, tp, from, fp, w, h, k);
}
WS_API cudaError_t cudaMemcpy2DAsync(void *to, size_t tp, const void *from, size_t fp, size_t w, size_t h,
                                     cudaMemcpyKind k, cudaStream_t s) {
    if (captured(s, [=] { return copy_rows(to, tp, from, fp, w, h, k); }, cudaGraphNodeTypeMemcpy)) return cudaSuccess;
    return copy_rows(to, tp, from, fp, w, h, k);
}
WS_API cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms *p, cudaStream_t s) {
    const cudaMemcpy3DParms kept = *p;
    if (captured(s, [=] { return cudaMemcpy3D(&kept); }, cudaGraphNodeTypeMemcpy)) return cudaSuccess;
    return cudaMemcpy3D(p);
}
WS_API cudaError_t cudaMemset(void *p, int v, size_t n) { return fill_bytes(p, v, n); }
WS_API cudaError_t cudaMemsetAsync(void *p, int v, size_t n, cudaStream_t s) {
    if (captured(s, [=] { return fill_bytes(p, v, n); }, cudaGraphNodeTypeMemset)) return cudaSuccess;
    return fill_bytes(p, v, n);
}
WS_API cudaError_t cudaMemset2D(void *p, size_t pitch, int v, size_t w, size_t h) {
    for (size_t y = 0; y < h; y++)
        if (cudaError_t e = fill_bytes((char *)p + y * pitch, v, w)) return e;
    return cudaSuccess;
}
WS_API cudaError_t cudaMemset2DAsync(void *p, size_t pitch, int v, size_t w, size_t h, cudaStream_t s) {
    if (captured(s, [=] { return cudaMemset2D(p, pitch, v, w, h); }, cudaGraphNodeTypeMemset)) return cudaSuccess;
    return cudaMemset2D(p, pitch, v, w, h);
}
WS_API cudaError_t cudaMemset3D(cudaPitchedPtr p, int v, cudaExtent e) {
    for (size_t z = 0; z < e.depth; z++)
        if (cudaError_t r = cudaMemset2D((char *)p.ptr + z * p.pitch * p.ysize, p.pitch, v, e.width, e.height))
            return r;
    return cudaSuccess;
}

static cudaError_t symbol_copy(const void *symbol, size_t offset, size_t n, const Step &copy) {
    const Variable *v = variable_of(symbol);
    if (!v) return fail(cudaErrorInvalidSymbol);
    if (offset > v->size || n > v->size - offset) return fail(cudaErrorInvalidValue);
    return copy();
}
WS_API cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t n, size_t offset, cudaMemcpyKind k) {
    WS_LOCKED;
    return symbol_copy(symbol, offset, n,
                       [=] { return copy_bytes((char *)variable_of(symbol)->address + offset, from, n, k); });
}
WS_API cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t n, size_t offset, cudaMemcpyKind k) {
    WS_LOCKED;
    return symbol_copy(symbol, offset, n,
                       [=] { return copy_bytes(to, (char *)variable_of(symbol)->address + offset, n, k); });
}
WS_API cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t n, size_t offset,
                                           cudaMemcpyKind k, cudaStream_t s) {
    if (captured(s, [=] { return cudaMemcpyToSymbol(symbol, from, n, offset, k); }, cudaGraphNodeTypeMemcpy))
        return cudaSuccess;
    return cudaMemcpyToSymbol(symbol, from, n, offset, k);
}
WS_API cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t n, size_t offset, cudaMemcpyKind k,
                                             cudaStream_t s) {
    if (captured(s, [=] { return cudaMemcpyFromSymbol(to, symbol, n, offset, k); }, cudaGraphNodeTypeMemcpy))
        return cudaSuccess;
    return cudaMemcpyFromSymbol(to, symbol, n, offset, k);
}
WS_API cudaError_t cudaMemPrefetchAsync(const void *, size_t, cudaMemLocation, unsigned, cudaStream_t) {
    return cudaSuccess;
}
WS_API cudaError_t cudaMemAdvise(const void *, size_t, cudaMemoryAdvise, cudaMemLocation) { return cudaSuccess; }
WS_API cudaError_t cudaStreamAttachMemAsync(cudaStream_t, void *, size_t, unsigned) { return cudaSuccess; }
