// The stand-in cuFFT: transforms of any size and up to three dimensions, computed in double. Powers of two go by
// halves, other lengths by Bluestein's convolution.
#include <map>
#include <numbers>

#include "../include/cufft.h"
#include "operands.hpp"

namespace stand_in {
namespace {

using c64 = std::complex<double>;

void by_halves(std::vector<c64> &x, int sign) {
    const size_t n = x.size();
    for (size_t i = 1, j = 0; i < n; i++) {
        size_t bit = n >> 1;
        for (; j & bit; bit >>= 1) j ^= bit;
        j ^= bit;
        if (i < j) std::swap(x[i], x[j]);
    }
    for (size_t length = 2; length <= n; length <<= 1) {
        std::vector<c64> turns(length / 2);
        for (size_t k = 0; k < turns.size(); k++)
            turns[k] = std::polar(1.0, sign * 2 * std::numbers::pi * (double)k / (double)length);
        for (size_t i = 0; i < n; i += length)
            for (size_t k = 0; k < length / 2; k++) {
                const c64 a = x[i + k], b = x[i + k + length / 2] * turns[k];
                x[i + k] = a + b, x[i + k + length / 2] = a - b;
            }
    }
}

void transform(std::vector<c64> &x, int sign) {
    const size_t n = x.size();
    if (n < 2) return;
    if (!(n & (n - 1))) return by_halves(x, sign);
    size_t padded = 1;
    while (padded < 2 * n) padded <<= 1;
    std::vector<c64> chirp(n), a(padded), b(padded);
    for (size_t k = 0; k < n; k++)
        chirp[k] = std::polar(1.0, sign * std::numbers::pi * (double)((u64)k * k % (2 * n)) / (double)n);
    for (size_t k = 0; k < n; k++) {
        a[k] = x[k] * chirp[k];
        b[k] = std::conj(chirp[k]);
        if (k) b[padded - k] = b[k];
    }
    by_halves(a, 1), by_halves(b, 1);
    for (size_t k = 0; k < padded; k++) a[k] *= b[k];
    by_halves(a, -1);
    for (size_t k = 0; k < n; k++) x[k] = a[k] / (double)padded * chirp[k];
}

// Where the elements of one side lie: sizes as stored, distance of neighbours, distance of transforms.
struct Side {
    std::vector<i64> embed;
    i64 stride = 1, distance = 0;
    bool plain = true;  // as cuFFT lays it out by itself
    i64 place(i64 transform, const std::vector<i64> &at) const {
        i64 index = 0;
        for (size_t d = 0; d < at.size(); d++) index = index * embed[d] + at[d];
        return transform * distance + index * stride;
    }
};
struct Plan {
    std::vector<i64> n;
    cufftType type = CUFFT_C2C;
    i64 batch = 0;
    Side in, out;
    cudaStream_t stream = nullptr;
};
std::map<int, Plan> plans;
int next_plan = 1;

// In place, rows of real numbers have room for the complex ones.
Side padded(Side s, i64 row) {
    if (!s.plain) return s;
    s.embed.back() = 2 * (row / 2 + 1), s.distance = 1;
    for (i64 length : s.embed) s.distance *= length;
    return s;
}

bool real_in(cufftType t) { return t == CUFFT_R2C || t == CUFFT_D2Z; }
bool real_out(cufftType t) { return t == CUFFT_C2R || t == CUFFT_Z2D; }
bool in_double(cufftType t) { return (t & 0x40) != 0; }

cufftResult make(int handle, std::vector<i64> n, const int *in_embed, i64 in_stride, i64 in_distance,
                 const int *out_embed, i64 out_stride, i64 out_distance, cufftType type, i64 batch) {
    WS_LOCKED;
    auto it = plans.find(handle);
    if (it == plans.end()) return CUFFT_INVALID_PLAN;
    if (type != CUFFT_C2C && type != CUFFT_Z2Z && !real_in(type) && !real_out(type)) return CUFFT_INVALID_TYPE;
    if (n.empty() || n.size() > 3 || batch < 1) return CUFFT_INVALID_SIZE;
    for (i64 length : n)
        if (length < 1) return CUFFT_INVALID_SIZE;
    Plan &p = it->second;
    p.n = n, p.type = type, p.batch = batch;
    const auto side = [&](Side &s, const int *embed, i64 stride, i64 distance, bool halved) {
        s.embed = n;
        if (halved) s.embed.back() = n.back() / 2 + 1;
        s.stride = 1, s.distance = 1, s.plain = !embed;
        for (i64 length : s.embed) s.distance *= length;
        if (!embed) return;  // then stride and distance say nothing, as in cuFFT
        s.embed.assign(embed, embed + n.size()), s.stride = stride, s.distance = distance;
    };
    side(p.in, in_embed, in_stride, in_distance, real_out(type));
    side(p.out, out_embed, out_stride, out_distance, real_in(type));
    return CUFFT_SUCCESS;
}

// All index tuples below the sizes, the last one fastest.
template <class F>
void each(const std::vector<i64> &sizes, const F &visit) {
    std::vector<i64> at(sizes.size());
    for (;;) {
        visit(at);
        size_t d = sizes.size();
        while (d && ++at[d - 1] == sizes[d - 1]) at[--d] = 0;
        if (!d) return;
    }
}

void along_all(std::vector<c64> &data, const std::vector<i64> &n, int sign) {
    i64 inner = 1;
    for (size_t d = n.size(); d--; inner *= n[d]) {
        std::vector<c64> line((size_t)n[d]);
        for (size_t start = 0; start < data.size(); start++) {
            if ((i64)start / inner % n[d]) continue;
            for (i64 i = 0; i < n[d]; i++) line[(size_t)i] = data[start + (size_t)(i * inner)];
            transform(line, sign);
            for (i64 i = 0; i < n[d]; i++) data[start + (size_t)(i * inner)] = line[(size_t)i];
        }
    }
}

template <class R>
c64 read(const void *p, i64 at, bool real) {
    if (real) return (double)((const R *)p)[at];
    return (c64)((const std::complex<R> *)p)[at];
}

// All transforms are read before any is written: they may be in place.
template <class R>
void execute(const Plan &p, const void *in, void *out, int sign) {
    std::vector<i64> half = p.n;
    half.back() = p.n.back() / 2 + 1;
    i64 count = 1;
    for (i64 length : p.n) count *= length;
    const Side whole{p.n, 1, count, true};
    std::vector<std::vector<c64>> all((size_t)p.batch);
    for (i64 b = 0; b < p.batch; b++) {
        auto &data = all[(size_t)b];
        data.resize((size_t)count);
        each(real_out(p.type) ? half : p.n, [&](const std::vector<i64> &at) {
            const c64 v = read<R>(in, p.in.place(b, at), real_in(p.type));
            data[(size_t)whole.place(0, at)] = v;
            if (!real_out(p.type)) return;
            std::vector<i64> mirror = at;
            for (size_t d = 0; d < at.size(); d++) mirror[d] = at[d] ? p.n[d] - at[d] : 0;
            if (mirror.back() >= half.back()) data[(size_t)whole.place(0, mirror)] = std::conj(v);
        });
        along_all(data, p.n, sign);
    }
    for (i64 b = 0; b < p.batch; b++)
        each(real_in(p.type) ? half : p.n, [&](const std::vector<i64> &at) {
            const c64 v = all[(size_t)b][(size_t)whole.place(0, at)];
            const i64 to = p.out.place(b, at);
            if (real_out(p.type))
                ((R *)out)[to] = (R)v.real();
            else
                ((std::complex<R> *)out)[to] = std::complex<R>((R)v.real(), (R)v.imag());
        });
}

u64 bytes_of(const Side &s, const std::vector<i64> &n, i64 batch, bool halved, u64 size) {
    std::vector<i64> last = n;
    if (halved) last.back() = n.back() / 2 + 1;
    for (i64 &i : last) i--;
    return (u64)(s.place(batch - 1, last) + 1) * size;
}

cufftResult run(int handle, const char *name, cufftType type, const void *in, void *out, int sign) {
    WS_LOCKED;
    auto it = plans.find(handle);
    if (it == plans.end() || it->second.n.empty()) return CUFFT_INVALID_PLAN;
    Plan p = it->second;
    if (in == out && real_in(type)) p.in = padded(p.in, p.n.back());
    if (in == out && real_out(type)) p.out = padded(p.out, p.n.back());
    if (p.type != type) return CUFFT_INVALID_TYPE;
    if (state_of_device() != cudaSuccess) return CUFFT_EXEC_FAILED;
    const u64 real = in_double(type) ? 8 : 4;
    const auto work = [=] {
        const u64 from = bytes_of(p.in, p.n, p.batch, real_out(type), real_in(type) ? real : 2 * real);
        const u64 to = bytes_of(p.out, p.n, p.batch, real_in(type), real_out(type) ? real : 2 * real);
        if (!reachable(name, {{in, from}, {out, to}})) return cudaErrorInvalidValue;
        if (in_double(type))
            execute<double>(p, in, out, sign);
        else
            execute<float>(p, in, out, sign);
        note_written(out, to, 1, to);
        double count = 1;
        for (i64 length : p.n) count *= (double)length;
        const double flops = 5 * count * std::log2(std::max(2.0, count)) * (double)p.batch;
        const auto kind = in_double(type) ? Arithmetic::f64 : Arithmetic::f32;
        library_call(name, real_in(type) || real_out(type) ? flops / 2 : flops, (double)(from + to), kind);
        return cudaSuccess;
    };
    if (captured(p.stream, work)) return CUFFT_SUCCESS;
    return work() == cudaSuccess ? CUFFT_SUCCESS : CUFFT_EXEC_FAILED;
}

cufftResult simple(int handle, std::vector<i64> n, cufftType type, i64 batch) {
    return make(handle, n, nullptr, 1, 0, nullptr, 1, 0, type, batch);
}
cufftResult made(cufftHandle *plan, const std::function<cufftResult(int)> &fill) {
    if (const cufftResult result = cufftCreate(plan)) return result;
    const cufftResult result = fill(*plan);
    if (result != CUFFT_SUCCESS) cufftDestroy(*plan);
    return result;
}

}  // namespace
}  // namespace stand_in

using namespace stand_in;

WS_API cufftResult cufftCreate(cufftHandle *plan) {
    WS_LOCKED;
    if (!plan) return CUFFT_INVALID_VALUE;
    plans[ *plan = next_plan++];
    return CUFFT_SUCCESS;
}
WS_API cufftResult cufftDestroy(cufftHandle plan) {
    WS_LOCKED;
    return plans.erase(plan) ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}
WS_API cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream) {
    WS_LOCKED;
    auto it = plans.find(plan);
    if (it == plans.end()) return CUFFT_INVALID_PLAN;
    return it->second.stream = stream, CUFFT_SUCCESS;
}
WS_API cufftResult cufftGetSize(cufftHandle, size_t *work) { return *work = 0, CUFFT_SUCCESS; }
WS_API cufftResult cufftGetVersion(int *version) { return *version = CUFFT_VERSION, CUFFT_SUCCESS; }

WS_API cufftResult cufftMakePlan1d(cufftHandle p, int n, cufftType type, int batch, size_t *work) {
    if (work) *work = 0;
    return simple(p, {n}, type, batch);
}
WS_API cufftResult cufftMakePlan2d(cufftHandle p, int a, int b, cufftType type, size_t *work) {
    if (work) *work = 0;
    return simple(p, {a, b}, type, 1);
}
WS_API cufftResult cufftMakePlan3d(cufftHandle p, int a, int b, int c, cufftType type, size_t *work) {
    if (work) *work = 0;
    return simple(p, {a, b, c}, type, 1);
}
WS_API cufftResult cufftMakePlanMany(cufftHandle p, int rank, int *n, int *in, int is, int id, int *out, int os, int od,
                                     cufftType type, int batch, size_t *work) {
    if (work) *work = 0;
    if (rank < 1 || rank > 3 || !n) return CUFFT_INVALID_SIZE;
    return make(p, std::vector<i64>(n, n + rank), in, is, id, out, os, od, type, batch);
}
WS_API cufftResult cufftPlan1d(cufftHandle *p, int n, cufftType type, int batch) {
    return made(p, [=](int h) { return cufftMakePlan1d(h, n, type, batch, nullptr); });
}
WS_API cufftResult cufftPlan2d(cufftHandle *p, int a, int b, cufftType type) {
    return made(p, [=](int h) { return cufftMakePlan2d(h, a, b, type, nullptr); });
}
WS_API cufftResult cufftPlan3d(cufftHandle *p, int a, int b, int c, cufftType type) {
    return made(p, [=](int h) { return cufftMakePlan3d(h, a, b, c, type, nullptr); });
}
WS_API cufftResult cufftPlanMany(cufftHandle *p, int rank, int *n, int *in, int is, int id, int *out, int os, int od,
                                 cufftType type, int batch) {
    return made(p, [=](int h) { return cufftMakePlanMany(h, rank, n, in, is, id, out, os, od, type, batch, nullptr); });
}
static bool direction(int d) { return d == CUFFT_FORWARD || d == CUFFT_INVERSE; }
WS_API cufftResult cufftExecC2C(cufftHandle p, cufftComplex *in, cufftComplex *out, int d) {
    return direction(d) ? run(p, "cufftExecC2C", CUFFT_C2C, in, out, d) : CUFFT_INVALID_VALUE;
}
WS_API cufftResult cufftExecZ2Z(cufftHandle p, cufftDoubleComplex *in, cufftDoubleComplex *out, int d) {
    return direction(d) ? run(p, "cufftExecZ2Z", CUFFT_Z2Z, in, out, d) : CUFFT_INVALID_VALUE;
}
WS_API cufftResult cufftExecR2C(cufftHandle p, cufftReal *in, cufftComplex *out) {
    return run(p, "cufftExecR2C", CUFFT_R2C, in, out, CUFFT_FORWARD);
}
WS_API cufftResult cufftExecD2Z(cufftHandle p, cufftDoubleReal *in, cufftDoubleComplex *out) {
    return run(p, "cufftExecD2Z", CUFFT_D2Z, in, out, CUFFT_FORWARD);
}
WS_API cufftResult cufftExecC2R(cufftHandle p, cufftComplex *in, cufftReal *out) {
    return run(p, "cufftExecC2R", CUFFT_C2R, in, out, CUFFT_INVERSE);
}
WS_API cufftResult cufftExecZ2D(cufftHandle p, cufftDoubleComplex *in, cufftDoubleReal *out) {
    return run(p, "cufftExecZ2D", CUFFT_Z2D, in, out, CUFFT_INVERSE);
}
