// What texture and surface instructions do, as plain functions: texture_calls.py puts calls to them in their place.
// A texture object is the address of a `Texture` in device memory, which the stand-in runtime fills
// (runtime/textures.cpp has the same fields). Filtering is NVIDIA's: weights of 8 bits. Mipmaps are not here, nor
// filtering across the faces of a cube; sRGB is refused when the object is made.
typedef unsigned long long u64;

struct Texture {
    u64 data, slice;                       // bytes from one layer to the next
    unsigned width, height, depth, pitch;  // in elements, in bytes
    unsigned bits, channels, kind;         // of a channel; 0 signed, 1 unsigned, 2 float
    unsigned address[3];                   // wrap, clamp, mirror, border
    unsigned linear, normalized_read, normalized_coordinates;
    float border[4];
    unsigned padding[3];
    uint4 zero, waste;  // what an access outside reads, and where it writes
};
enum { WRAP, CLAMP, MIRROR, BORDER };
enum { LINE = 1, PLANE = 2, SPACE = 3, LAYERED_LINE = 5, LAYERED_PLANE = 6, CUBE = 7, LAYERED_CUBE = 8 };

// Where an index falls; negative: on the border.
static __device__ int placed(int i, int n, unsigned mode) {
    if (mode == WRAP) return (i % n + n) % n;
    if (mode == MIRROR) {
        const int m = (i % (2 * n) + 2 * n) % (2 * n);
        return m < n ? m : 2 * n - 1 - m;
    }
    if (mode == BORDER) return i < 0 || i >= n ? -1 : i;
    return min(max(i, 0), n - 1);
}

static __device__ unsigned channel(const Texture *t, const char *at, int c) {
    unsigned raw;
    if (t->bits == 8)
        raw = ((const unsigned char *)at)[c];
    else if (t->bits == 16)
        raw = ((const unsigned short *)at)[c];
    else
        return ((const unsigned *)at)[c];
    if (t->kind == 2) {
        float value;
        asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"((unsigned short)raw));
        return __float_as_uint(value);
    }
    const int number = t->kind == 1 ? (int)raw : t->bits == 8 ? (int)(signed char)raw : (int)(short)raw;
    if (!t->normalized_read) return (unsigned)number;
    const float most = t->kind == 1 ? (float)((1u << t->bits) - 1) : (float)((1u << (t->bits - 1)) - 1);
    return __float_as_uint(fmaxf((float)number / most, -1.0f));
}

static __device__ uint4 texel(const Texture *t, int x, int y, int z) {
    uint4 found = {0, 0, 0, 0};
    unsigned *out = &found.x;
    const bool floats = t->kind == 2 || t->normalized_read;
    if (x < 0 || y < 0 || z < 0) {
        for (int c = 0; c < 4; c++) out[c] = floats ? __float_as_uint(t->border[c]) : (unsigned)(int)t->border[c];
        return found;
    }
    const char *at = (const char *)t->data + (u64)z * t->slice + (u64)y * t->pitch;
    at += (u64)x * (t->bits / 8 * t->channels);
    for (int c = 0; c < (int)t->channels; c++) out[c] = channel(t, at, c);
    if (t->channels < 4) found.w = floats ? __float_as_uint(1.0f) : 1;
    return found;
}

static __device__ float scaled(const Texture *t, float x, int n) {
    return t->normalized_coordinates ? x * (float)n : x;
}

struct Along {
    int low, high;
    float weight;
};
static __device__ Along along(const Texture *t, float x, int n, int axis, bool linear) {
    unsigned mode = t->address[axis];
    if (!t->normalized_coordinates && (mode == WRAP || mode == MIRROR)) mode = CLAMP;
    float at = scaled(t, x, n) - (linear ? 0.5f : 0.0f);
    at = fminf(fmaxf(at, -1e9f), 1e9f);
    const float low = floorf(at);
    return {placed((int)low, n, mode), placed((int)low + 1, n, mode), rintf((at - low) * 256.0f) / 256.0f};
}

static __device__ uint4 mixed(uint4 a, uint4 b, float weight) {
    uint4 found;
    for (int c = 0; c < 4; c++)
        (&found.x)[c] =
            __float_as_uint((1.0f - weight) * __uint_as_float((&a.x)[c]) + weight * __uint_as_float((&b.x)[c]));
    return found;
}

extern "C" __device__ __noinline__ uint4 ws_texel(const Texture *t, int x, int y, int z) {
    const int n = (int)t->width, rows = (int)t->height, layers = (int)t->depth;
    if (x < 0 || x >= n || y < 0 || y >= rows || z < 0 || z >= layers) return texel(t, -1, -1, -1);
    return texel(t, x, y, z);
}

// The face that a direction meets, and where: x and y become coordinates from 0 to 1.
static __device__ int face_of(float &x, float &y, float z) {
    const float ax = fabsf(x), ay = fabsf(y), az = fabsf(z);
    float s, u, most;
    int face;
    if (ax >= ay && ax >= az)
        face = x < 0, most = ax, s = x < 0 ? z : -z, u = -y;
    else if (ay >= az)
        face = 2 + (y < 0), most = ay, s = x, u = y < 0 ? -z : z;
    else
        face = 4 + (z < 0), most = az, s = z < 0 ? -x : x, u = -y;
    x = (s / most + 1.0f) / 2.0f, y = (u / most + 1.0f) / 2.0f;
    return face;
}

extern "C" __device__ __noinline__ uint4 ws_texture(const Texture *t, int form, int layer, float x, float y, float z) {
    const bool linear = t->linear && (t->kind == 2 || t->normalized_read);
    int plane = min(max(layer, 0), (int)t->depth - 1);
    if (form == CUBE) plane = face_of(x, y, z);
    if (form == LAYERED_CUBE) plane = min(max(layer, 0), (int)t->depth / 6 - 1) * 6 + face_of(x, y, z);
    const bool rows = form != LINE && form != LAYERED_LINE, space = form == SPACE;
    const Along i = along(t, x, (int)t->width, 0, linear);
    Along j = {0, 0, 0.0f}, k = {plane, plane, 0.0f};
    if (rows) j = along(t, y, (int)t->height, 1, linear);
    if (space) k = along(t, z, (int)t->depth, 2, linear);
    if (form == LINE || form == PLANE) k = {0, 0, 0.0f};
    if (!linear) return texel(t, i.low, j.low, k.low);
    uint4 found = mixed(texel(t, i.low, j.low, k.low), texel(t, i.high, j.low, k.low), i.weight);
    if (!rows) return found;
    found = mixed(found, mixed(texel(t, i.low, j.high, k.low), texel(t, i.high, j.high, k.low), i.weight), j.weight);
    if (!space) return found;
    uint4 far = mixed(texel(t, i.low, j.low, k.high), texel(t, i.high, j.low, k.high), i.weight);
    far = mixed(far, mixed(texel(t, i.low, j.high, k.high), texel(t, i.high, j.high, k.high), i.weight), j.weight);
    return mixed(found, far, k.weight);
}

// One channel of the four texels that filtering would take.
extern "C" __device__ __noinline__ uint4 ws_gather(const Texture *t, int which, float x, float y) {
    const Along i = along(t, x, (int)t->width, 0, true), j = along(t, y, (int)t->height, 1, true);
    const uint4 a = texel(t, i.low, j.high, 0), b = texel(t, i.high, j.high, 0);
    const uint4 c = texel(t, i.high, j.low, 0), d = texel(t, i.low, j.low, 0);
    return {(&a.x)[which], (&b.x)[which], (&c.x)[which], (&d.x)[which]};
}

// Where a surface access goes: x counts bytes. Outside: nowhere (0: the access faults), the edge, or a place of no use.
extern "C" __device__ __noinline__ u64 ws_surface(const Texture *t, int mode, int writes, int x, int y, int z) {
    const int bytes = (int)(t->bits / 8 * t->channels), n = (int)t->width;
    const bool inside = x >= 0 && x / bytes < n && y >= 0 && y < (int)t->height && z >= 0 && z < (int)t->depth;
    if (!inside && mode == 0) return 0;
    if (!inside && mode == 2) return writes ? (u64)&t->waste : (u64)&t->zero;
    x = min(max(x, 0), (n - 1) * bytes), y = min(max(y, 0), (int)t->height - 1), z = min(max(z, 0), (int)t->depth - 1);
    return t->data + (u64)z * t->slice + (u64)y * t->pitch + (u64)x;
}

// Keeps them, each with all of its arguments.
extern "C" __global__ void ws_textures(const Texture *t, uint4 *out, int a, int b, int c, int d, int e, float x,
                                       float y, float z) {
    out[0] = ws_texel(t, a, b, c), out[1] = ws_texture(t, a, b, x, y, z), out[2] = ws_gather(t, a, x, y);
    out[3].x = (unsigned)ws_surface(t, a, b, c, d, e);
}
