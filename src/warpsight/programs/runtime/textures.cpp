// Texture and surface objects: descriptions in device memory, which the functions read that stand for texture
// instructions
// (../textures.cu has the same fields). Mipmaps, sRGB, views of resources and texture references are not here.
#include <cstring>

#include "arrays.hpp"

namespace stand_in {
namespace {
struct Texture {
    u64 data, slice;
    u32 width, height, depth, pitch;
    u32 bits, channels, kind;
    u32 address[3];
    u32 linear, normalized_read, normalized_coordinates;
    float border[4];
    u32 padding[3];
    u32 zero[4], waste[4];
};
static_assert(offsetof(Texture, zero) % 16 == 0 && sizeof(Texture) % 16 == 0, "as the device's compiler lays it out");

struct Object {
    cudaResourceDesc resource;
    cudaTextureDesc texture;
};
std::map<u64, Object> objects;

const char *refused(const cudaChannelFormatDesc &d) {
    const int each[] = {d.x, d.y, d.z, d.w};
    for (int bits : each)
        if (bits && bits != d.x) return "channels of different sizes";
    if (d.x != 8 && d.x != 16 && d.x != 32) return "channels of this size";
    if (d.f != cudaChannelFormatKindSigned && d.f != cudaChannelFormatKindUnsigned && d.f != cudaChannelFormatKindFloat)
        return "this form of channels";
    return nullptr;
}

const char *describe(const cudaResourceDesc &r, Texture *t) {
    cudaChannelFormatDesc form;
    if (r.resType == cudaResourceTypeArray) {
        const Array *a = array_of(r.res.array.array);
        if (!a) return "an array that is not there";
        form = a->form, t->data = a->at, t->pitch = (u32)a->pitch, t->slice = a->pitch * a->rows();
        t->width = (u32)a->extent.width, t->height = (u32)a->rows(), t->depth = (u32)a->planes();
    } else if (r.resType == cudaResourceTypeLinear) {
        form = r.res.linear.desc, t->data = (u64)r.res.linear.devPtr;
        if (const u64 element = element_bytes(form)) t->width = (u32)(r.res.linear.sizeInBytes / element);
        t->height = t->depth = 1;
    } else if (r.resType == cudaResourceTypePitch2D) {
        form = r.res.pitch2D.desc, t->data = (u64)r.res.pitch2D.devPtr, t->pitch = (u32)r.res.pitch2D.pitchInBytes;
        t->width = (u32)r.res.pitch2D.width, t->height = (u32)r.res.pitch2D.height, t->depth = 1;
    } else {
        return "mipmaps";
    }
    t->bits = (u32)form.x, t->kind = (u32)form.f;
    t->channels = (u32)(!!form.x + !!form.y + !!form.z + !!form.w);
    return refused(form);
}

cudaError_t make(const char *name, u64 *out, const Object &object, Texture &t) {
    WS_LOCKED;
    WS_STICKY;
    if (const char *why = describe(object.resource, &t)) return not_provided(name, why);
    const u64 at = allocate(sizeof t, Kind::variable);
    if (!at) return fail(cudaErrorMemoryAllocation);
    objects[at] = object;
    *out = at;
    return copy_bytes((void *)at, &t, sizeof t, cudaMemcpyHostToDevice);
}
}  // namespace
}  // namespace stand_in

using namespace stand_in;

WS_API cudaError_t cudaCreateTextureObject(cudaTextureObject_t *out, const cudaResourceDesc *r,
                                           const cudaTextureDesc *d, const cudaResourceViewDesc *view) {
    if (view) return not_provided("cudaCreateTextureObject", "views of resources");
    if (d->sRGB) return not_provided("cudaCreateTextureObject", "sRGB");
    Texture t = {};
    for (int i = 0; i < 3; i++) t.address[i] = (u32)d->addressMode[i];
    t.linear = d->filterMode == cudaFilterModeLinear, t.normalized_coordinates = d->normalizedCoords != 0;
    t.normalized_read = d->readMode == cudaReadModeNormalizedFloat;
    memcpy(t.border, d->borderColor, sizeof t.border);
    return make("cudaCreateTextureObject", (u64 *)out, {*r, *d}, t);
}
WS_API cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *out, const cudaResourceDesc *r) {
    Texture t = {};
    return make("cudaCreateSurfaceObject", (u64 *)out, {*r, {}}, t);
}
static cudaError_t destroy(u64 object) {
    WS_LOCKED;
    return objects.erase(object) ? cudaSuccess : fail(cudaErrorInvalidValue);
}
WS_API cudaError_t cudaDestroyTextureObject(cudaTextureObject_t t) { return destroy(t); }
WS_API cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t s) { return destroy(s); }
WS_API cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc *out, cudaTextureObject_t t) {
    WS_LOCKED;
    auto it = objects.find(t);
    return it == objects.end() ? fail(cudaErrorInvalidValue) : (*out = it->second.resource, cudaSuccess);
}
WS_API cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc *out, cudaTextureObject_t t) {
    WS_LOCKED;
    auto it = objects.find(t);
    return it == objects.end() ? fail(cudaErrorInvalidValue) : (*out = it->second.texture, cudaSuccess);
}
