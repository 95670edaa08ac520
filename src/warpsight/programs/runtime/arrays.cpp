// Arrays and copies to and from them. Rows lie one after the other: nothing here depends on how a GPU would order them.
#include "arrays.hpp"

#include <cstring>
#include <set>

namespace stand_in {
namespace {
std::set<Array *> arrays;

struct Place {  // in an array: where a copy begins, and how far rows are apart
    char *at;
    u64 pitch, plane;
};

Place place_in(const Array &a, u64 byte, u64 row, u64 plane) {
    const u64 step = a.pitch * a.rows();
    return {(char *)a.at + plane * step + row * a.pitch + byte, a.pitch, step};
}

bool lies_in(const Array &a, u64 byte, u64 row, u64 width, u64 height) {
    return byte + width <= a.extent.width * a.element && row + height <= a.rows();
}

Place place_of(cudaArray_t array, const cudaPitchedPtr &memory, const cudaPos &from) {
    if (const Array *a = array_of(array)) return place_in(*a, from.x * a->element, from.y, from.z);
    const u64 plane = memory.pitch * memory.ysize;
    return {(char *)memory.ptr + from.z * plane + from.y * memory.pitch + from.x, memory.pitch, plane};
}

// Bytes that fill row after row.
template <class Copy>
cudaError_t by_rows(const Array &a, u64 byte, u64 row, u64 count, const Copy &copy) {
    const u64 width = a.extent.width * a.element;
    if (byte >= width || row * width + byte + count > width * a.rows()) return fail(cudaErrorInvalidValue);
    for (u64 done = 0; done < count; byte = 0, row++) {
        const u64 piece = std::min(count - done, width - byte);
        if (cudaError_t e = copy(place_in(a, byte, row, 0).at, done, piece)) return e;
        done += piece;
    }
    return cudaSuccess;
}
}  // namespace

Array *array_of(cudaArray_const_t a) { return arrays.count((Array *)a) ? (Array *)a : nullptr; }
u64 element_bytes(const cudaChannelFormatDesc &d) { return (u64)(d.x + d.y + d.z + d.w) / 8; }
}  // namespace stand_in

using namespace stand_in;

WS_API cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) {
    return {x, y, z, w, kind};
}
WS_API cudaError_t cudaMalloc3DArray(cudaArray_t *out, const cudaChannelFormatDesc *form, cudaExtent extent,
                                     unsigned flags) {
    WS_LOCKED;
    WS_STICKY;
    const u64 element = element_bytes(*form);
    if (!element || !extent.width) return fail(cudaErrorInvalidValue);
    Array a{*form, extent, flags, 0, round_up(extent.width * element, 32), element};
    a.at = allocate(a.pitch * a.rows() * a.planes(), Kind::device);
    if (!a.at) return fail(cudaErrorMemoryAllocation);
    *out = (cudaArray_t)*arrays.insert(new Array(a)).first;
    return cudaSuccess;
}
WS_API cudaError_t cudaMallocArray(cudaArray_t *out, const cudaChannelFormatDesc *form, size_t width, size_t height,
                                   unsigned flags) {
    return cudaMalloc3DArray(out, form, {width, height, 0}, flags);
}
WS_API cudaError_t cudaFreeArray(cudaArray_t array) {
    WS_LOCKED;
    Array *a = array_of(array);
    if (!array) return cudaSuccess;
    if (!a) return fail(cudaErrorInvalidValue);
    release(a->at);
    arrays.erase(a);
    return cudaSuccess;
}
WS_API cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc *form, cudaExtent *extent, unsigned *flags,
                                    cudaArray_t array) {
    WS_LOCKED;
    const Array *a = array_of(array);
    if (!a) return fail(cudaErrorInvalidValue);
    if (form) *form = a->form;
    if (extent) *extent = a->extent;
    if (flags) *flags = a->flags;
    return cudaSuccess;
}
WS_API cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc *form, cudaArray_const_t array) {
    return cudaArrayGetInfo(form, nullptr, nullptr, (cudaArray_t)array);
}

WS_API cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t byte, size_t row, const void *from, size_t pitch,
                                       size_t width, size_t height, cudaMemcpyKind kind) {
    WS_LOCKED;
    const Array *a = array_of(to);
    if (!a || !lies_in(*a, byte, row, width, height)) return fail(cudaErrorInvalidValue);
    return copy_rows(place_in(*a, byte, row, 0).at, a->pitch, from, pitch, width, height, kind);
}
WS_API cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_const_t from, size_t byte, size_t row,
                                         size_t width, size_t height, cudaMemcpyKind kind) {
    WS_LOCKED;
    const Array *a = array_of(from);
    if (!a || !lies_in(*a, byte, row, width, height)) return fail(cudaErrorInvalidValue);
    return copy_rows(to, pitch, place_in(*a, byte, row, 0).at, a->pitch, width, height, kind);
}
WS_API cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_byte, size_t to_row, cudaArray_const_t from,
                                            size_t byte, size_t row, size_t width, size_t height, cudaMemcpyKind kind) {
    WS_LOCKED;
    const Array *a = array_of(from);
    if (!a || !lies_in(*a, byte, row, width, height)) return fail(cudaErrorInvalidValue);
    return cudaMemcpy2DToArray(to, to_byte, to_row, place_in(*a, byte, row, 0).at, a->pitch, width, height, kind);
}
WS_API cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t byte, size_t row, const void *from, size_t count,
                                     cudaMemcpyKind kind) {
    WS_LOCKED;
    const Array *a = array_of(to);
    if (!a) return fail(cudaErrorInvalidValue);
    return by_rows(*a, byte, row, count, [&](char *at, u64 done, u64 piece) {
        return copy_bytes(at, (const char *)from + done, piece, kind);
    });
}
WS_API cudaError_t cudaMemcpyFromArray(void *to, cudaArray_const_t from, size_t byte, size_t row, size_t count,
                                       cudaMemcpyKind kind) {
    WS_LOCKED;
    const Array *a = array_of(from);
    if (!a) return fail(cudaErrorInvalidValue);
    return by_rows(*a, byte, row, count,
                   [&](char *at, u64 done, u64 piece) { return copy_bytes((char *)to + done, at, piece, kind); });
}
WS_API cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms *p) {
    WS_LOCKED;
    const Array *source = array_of(p->srcArray), *target = array_of(p->dstArray);
    if ((p->srcArray && !source) || (p->dstArray && !target)) return fail(cudaErrorInvalidValue);
    const u64 width = p->extent.width * (source ? source->element : target ? target->element : 1);
    const Place from = place_of(p->srcArray, p->srcPtr, p->srcPos), to = place_of(p->dstArray, p->dstPtr, p->dstPos);
    for (size_t z = 0; z < p->extent.depth; z++)
        if (cudaError_t e = copy_rows(to.at + z * to.plane, to.pitch, from.at + z * from.plane, from.pitch, width,
                                      p->extent.height, p->kind))
            return e;
    return cudaSuccess;
}

#define LATER(call)                                                                     \
    if (captured(s, [=] { return call; }, cudaGraphNodeTypeMemcpy)) return cudaSuccess; \
    return call;
WS_API cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t byte, size_t row, const void *from, size_t pitch,
                                            size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t s){
    LATER(cudaMemcpy2DToArray(to, byte, row, from, pitch, width, height, kind))} WS_API cudaError_t
    cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, cudaArray_const_t from, size_t byte, size_t row, size_t width,
                               size_t height, cudaMemcpyKind kind, cudaStream_t s){
        LATER(cudaMemcpy2DFromArray(to, pitch, from, byte, row, width, height, kind))} WS_API cudaError_t
    cudaMemcpyToArrayAsync(cudaArray_t to, size_t byte, size_t row, const void *from, size_t count, cudaMemcpyKind kind,
                           cudaStream_t s){
        LATER(cudaMemcpyToArray(to, byte, row, from, count, kind))} WS_API cudaError_t
    cudaMemcpyFromArrayAsync(void *to, cudaArray_const_t from, size_t byte, size_t row, size_t count,
                             cudaMemcpyKind kind, cudaStream_t s) {
    LATER(cudaMemcpyFromArray(to, from, byte, row, count, kind))
}
