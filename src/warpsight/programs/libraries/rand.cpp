// The stand-in cuRAND, called from the host: pseudo-random numbers of Philox4x32-10, whatever generator is asked for.
// They are as good, and the same for the same seed and offset, but not the sequence of NVIDIA's generators. Without
// curand.h, which the build of this library need not have: the numbers of its enumerations stand here.
#include <numbers>

#include "operands.hpp"

namespace stand_in {
namespace {

enum Status {
    kSuccess = 0,
    kNotInitialized = 101,
    kTypeError = 103,
    kOutOfRange = 104,
    kLengthNotMultiple = 105,
    kLaunchFailure = 201
};  // clang-format skip
constexpr int kFirstPseudo = 100, kLastPseudo = 199;

struct Generator {
    u64 seed = 0, offset = 0;
    cudaStream_t stream = nullptr;
    bool on_host = false;
};

struct Four {
    u32 v[4];
};
Four philox(u64 counter, u64 key) {
    u32 c[4] = {(u32)counter, (u32)(counter >> 32), 0, 0}, k[2] = {(u32)key, (u32)(key >> 32)};
    for (int round = 0; round < 10; round++) {
        const u64 a = (u64)0xD2511F53u * c[0], b = (u64)0xCD9E8D57u * c[2];
        const u32 next[4] = {(u32)(b >> 32) ^ c[1] ^ k[0], (u32)b, (u32)(a >> 32) ^ c[3] ^ k[1], (u32)a};
        memcpy(c, next, sizeof c);
        k[0] += 0x9E3779B9u, k[1] += 0xBB67AE85u;
    }
    return {{c[0], c[1], c[2], c[3]}};
}

u32 bits_at(const Generator &g, u64 i) {
    i += g.offset;
    return philox(i / 4, g.seed).v[i % 4];
}
// In (0, 1], as cuRAND has it.
float uniform_at(const Generator &g, u64 i) { return ((float)(bits_at(g, i) >> 8) + 1.0f) * 0x1p-24f; }
double uniform_in_double(const Generator &g, u64 i) {
    const u64 high = bits_at(g, 2 * i), low = bits_at(g, 2 * i + 1);
    return ((double)(((high << 32 | low) >> 11) + 1)) * 0x1p-53;
}
double normal_at(const Generator &g, u64 i) {
    Generator pair = g;
    pair.offset += i / 2 * 4;
    const double r = std::sqrt(-2 * std::log(uniform_in_double(pair, 0)));
    const double turn = 2 * std::numbers::pi * uniform_in_double(pair, 1);
    return r * (i % 2 ? std::sin(turn) : std::cos(turn));
}

template <class T, class F>
Status fill(void *handle, const char *name, T *out, u64 n, u64 drawn, const F &number) {
    Generator *g = (Generator *)handle;
    if (!g) return kNotInitialized;
    if (state_of_device() != cudaSuccess) return kLaunchFailure;
    const Generator now = *g;
    g->offset += drawn;
    const auto work = [=] {
        if (!now.on_host && !reachable(name, {{out, n * sizeof(T)}})) return cudaErrorInvalidValue;
        for (u64 i = 0; i < n; i++) out[i] = number(now, i);
        if (now.on_host) return cudaSuccess;
        note_written(out, n * sizeof(T), 1, n * sizeof(T));
        library_call(name, 20.0 * (double)n, (double)(n * sizeof(T)), Arithmetic::f32);
        return cudaSuccess;
    };
    if (captured(now.stream, work)) return kSuccess;
    return work() == cudaSuccess ? kSuccess : kLaunchFailure;
}

Status create(void **handle, int type, bool on_host) {
    if (type < kFirstPseudo || type > kLastPseudo)
        return say("cuRAND: generators of quasi-random numbers (type %d) are not provided", type), kTypeError;
    Generator *g = new Generator;
    g->on_host = on_host;
    return *handle = g, kSuccess;
}

}  // namespace
}  // namespace stand_in

using namespace stand_in;

WS_API int curandCreateGenerator(void **g, int type) { return create(g, type, false); }
WS_API int curandCreateGeneratorHost(void **g, int type) { return create(g, type, true); }
WS_API int curandDestroyGenerator(void *g) { return delete (Generator *)g, kSuccess; }
WS_API int curandGetVersion(int *version) { return *version = 100400, kSuccess; }
WS_API int curandSetStream(void *g, cudaStream_t stream) { return ((Generator *)g)->stream = stream, kSuccess; }
WS_API int curandSetPseudoRandomGeneratorSeed(void *g, unsigned long long seed) {
    ((Generator *)g)->seed = seed, ((Generator *)g)->offset = 0;
    return kSuccess;
}
WS_API int curandSetGeneratorOffset(void *g, unsigned long long offset) {
    return ((Generator *)g)->offset = offset, kSuccess;
}
WS_API int curandSetGeneratorOrdering(void *, int) { return kSuccess; }
WS_API int curandGenerateSeeds(void *) { return kSuccess; }
WS_API int curandGenerate(void *g, unsigned *out, size_t n) {
    return fill(g, "curandGenerate", out, n, n, [](const Generator &now, u64 i) { return bits_at(now, i); });
}
WS_API int curandGenerateUniform(void *g, float *out, size_t n) {
    return fill(g, "curandGenerateUniform", out, n, n, [](const Generator &now, u64 i) { return uniform_at(now, i); });
}
WS_API int curandGenerateUniformDouble(void *g, double *out, size_t n) {
    return fill(g, "curandGenerateUniformDouble", out, n, 2 * n,
                [](const Generator &now, u64 i) { return uniform_in_double(now, i); });
}
template <class T>
static int normals(void *g, const char *name, T *out, size_t n, T mean, T deviation, bool logarithm) {
    if (n % 2) return kLengthNotMultiple;  // pairs, as cuRAND has it
    return fill(g, name, out, n, 2 * n, [=](const Generator &now, u64 i) {
        const double v = (double)mean + (double)deviation * normal_at(now, i);
        return (T)(logarithm ? std::exp(v) : v);
    });
}
WS_API int curandGenerateNormal(void *g, float *out, size_t n, float mean, float deviation) {
    return normals(g, "curandGenerateNormal", out, n, mean, deviation, false);
}
WS_API int curandGenerateNormalDouble(void *g, double *out, size_t n, double mean, double deviation) {
    return normals(g, "curandGenerateNormalDouble", out, n, mean, deviation, false);
}
WS_API int curandGenerateLogNormal(void *g, float *out, size_t n, float mean, float deviation) {
    return normals(g, "curandGenerateLogNormal", out, n, mean, deviation, true);
}
WS_API int curandGenerateLogNormalDouble(void *g, double *out, size_t n, double mean, double deviation) {
    return normals(g, "curandGenerateLogNormalDouble", out, n, mean, deviation, true);
}
