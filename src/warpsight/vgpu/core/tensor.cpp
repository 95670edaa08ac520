// MMA: fragments are gathered from the lanes' rows to small matrices of doubles, multiplied, and scattered back.
// Doubles hold every input type exactly, every product of 8- and 16-bit and TF32 values, and every integer sum, so one
// multiplication serves all types. Additions go in ascending k; F64 products are fused, as the page says.
#include "halves.hpp"

namespace warpsight {

namespace {

struct Shape {
    int m, n, k;
    bool wmma;
};
constexpr Shape kShapes[] = {{16, 8, 16, false}, {16, 8, 8, false}, {8, 8, 4, false},   {16, 8, 32, false},
                             {16, 8, 4, false},  {8, 8, 16, false}, {16, 16, 16, true}, {32, 8, 16, true},
                             {8, 32, 16, true},  {16, 16, 8, true}, {8, 8, 4, true}};

// How a type lies in a fragment: elements per row (F64: one element over two rows).
int packed_in_row(Type t) {
    switch (t) {
        case Type::F16:
        case Type::BF16: return 2;
        case Type::S8:
        case Type::U8: return 4;
        default: return 1;
    }
}

// List entries of a fragment with `elements` in all. Wmma holds F16 operands twice or more: always eight rows.
int fragment_rows(int elements, Type t, bool wmma_operand) {
    return wmma_operand && t == Type::F16 ? 8 : elements / (kLanes * packed_in_row(t));
}

// One list entry as numbers, in the order lane, then element of the lane.
void read_entry(const WarpRows &w, Ref r, Type t, double *x) {
    const u32 *row = Row::at(w, r);
    float f[2 * kLanes];
    u8 bytes[4 * kLanes];
    switch (t) {
        case Type::F16:
        case Type::BF16:
            if (t == Type::F16)
                take_halves<HalfFormat, 2 * kLanes>(w, r, false, f);
            else
                take_halves<BrainFormat, 2 * kLanes>(w, r, false, f);
            for (int k = 0; k < 2 * kLanes; k++) x[k] = f[k];
            return;
        case Type::S8:
            std::memcpy(bytes, row, sizeof bytes);
            for (int k = 0; k < 4 * kLanes; k++) x[k] = (i8)bytes[k];
            return;
        case Type::U8:
            std::memcpy(bytes, row, sizeof bytes);
            for (int k = 0; k < 4 * kLanes; k++) x[k] = bytes[k];
            return;
        case Type::S32:
            for (int l = 0; l < kLanes; l++) x[l] = (i32)row[l];
            return;
        case Type::F64: {
            auto v = values<double>(w, r);
            for (int l = 0; l < kLanes; l++) x[l] = v[l];
            return;
        }
        default: {  // F32 and TF32
            const u32 mask = t == Type::TF32 ? 0xffffe000u : kFull;
            for (int l = 0; l < kLanes; l++) x[l] = std::bit_cast<float>(row[l] & mask);
        }
    }
}

i32 integer_result(double x, bool saturate) {
    i64 v = (i64)x;
    if (saturate) v = v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v;
    return (i32)(u32)(u64)v;
}

void write_entry(const WarpRows &w, Ref r, Type t, u32 m, const double *x, bool saturate) {
    u16 h[2 * kLanes];
    switch (t) {
        case Type::F16: HalfFormat::narrow(x, h, 2 * kLanes); return write_halves<2 * kLanes>(w, r, m, h);
        case Type::S32: return fill<i32>(w, r, m, [&](int l) { return integer_result(x[l], saturate); });
        case Type::F64: return fill<double>(w, r, m, [&](int l) { return canonical(x[l]); });
        default: return fill<float>(w, r, m, [&](int l) { return canonical((float)x[l]); });
    }
}

enum class Part { a, b, c };

struct Matrix {
    int rows, columns;
    alignas(32) double at[32 * 32];
};

// Where the numbers of list entry e lie in a matrix of mma.sync: calls place(index in the entry, index in the matrix).
// An entry is a tile, eight rows (columns of B) by the elements of four lanes, except that single accumulators put two
// neighbouring columns in two entries.
template <Part P, int Packed, class Place>
WS_INLINE void each_place(const Matrix &x, int e, Place place) {
    constexpr int width = 4 * Packed;
    const int blocks = P == Part::a && x.rows == 16 ? 2 : 1;  // tiles below one another come first
    const int down = P == Part::c ? 8 * e : 8 * (e % blocks), right = P == Part::c ? 0 : e / blocks * width;
    for (int g = 0; g < 8; g++)
        for (int c = 0; c < width; c++) {
            if constexpr (P == Part::c && Packed == 1)
                place(4 * g + c, (g + 8 * (e / 2)) * 8 + 2 * c + e % 2);
            else if constexpr (P == Part::b)
                place(width * g + c, (right + c) * 8 + g);
            else
                place(width * g + c, (down + g) * x.columns + right + c);
        }
}

// The same in a wmma fragment: the matrix in row-major order dealt to the lanes, again from the start when it is used
// up.
template <int Packed, class Place>
WS_INLINE void each_dealt(const Matrix &x, int e, int entries, Place place) {
    const int elements = x.rows * x.columns, per_lane = entries * Packed;
    for (int l = 0; l < kLanes && l * per_lane + e * Packed < elements; l++)
        for (int c = 0; c < Packed; c++) place(l * Packed + c, l * per_lane + e * Packed + c);
}

template <Part P, int Packed>
void gather_as(const WarpRows &w, const Ref *list, int entries, Type t, bool wmma, Matrix &to) {
    double x[4 * kLanes];
    for (int e = 0; e < entries; e++) {
        read_entry(w, list[e], t, x);
        auto place = [&](int from, int index) { to.at[index] = x[from]; };
        if (wmma)
            each_dealt<Packed>(to, e, entries, place);
        else
            each_place<P, Packed>(to, e, place);
    }
}

template <Part P>
void gather(const WarpRows &w, const Ref *list, int entries, Type t, bool wmma, Matrix &to) {
    switch (packed_in_row(t)) {
        case 1: return gather_as<P, 1>(w, list, entries, t, wmma, to);
        case 2: return gather_as<P, 2>(w, list, entries, t, wmma, to);
        default: return gather_as<P, 4>(w, list, entries, t, wmma, to);
    }
}

template <int Packed>
void scatter(const WarpRows &w, const Ins &i, int entries, Type t, bool wmma, u32 m, const Matrix &from) {
    double x[4 * kLanes];
    for (int e = 0; e < entries; e++) {
        auto place = [&](int to, int index) { x[to] = from.at[index]; };
        if (wmma)
            each_dealt<Packed>(from, e, entries, place);
        else
            each_place<Part::c, Packed>(from, e, place);
        write_entry(w, i.list[e], t, m, x, i.imm & 1);
    }
}

WS_INLINE v4d load4(const double *p) {  // one whole load: copies in parts would wait for one another
    v4d v;
    std::memcpy(&v, p, sizeof v);
    return v;
}
WS_INLINE void store4(double *p, v4d v) { std::memcpy(p, &v, sizeof v); }

// c += a * b, k ascending; four rows by eight columns at a time. Fusing changes nothing where the product is exact,
// which is everywhere but in F64, where it is asked for.
void multiply_add(const Matrix &a, const Matrix &b, Matrix &c) {
    const int n = c.columns, depth = a.columns;
    for (int j = 0; j < n; j += 8)
        for (int i = 0; i < c.rows; i += 4) {
            const double *left = &a.at[i * depth], *right = &b.at[j];
            double *out = &c.at[i * n + j];
            v4d low[4], high[4];
            for (int r = 0; r < 4; r++) low[r] = load4(out + r * n), high[r] = load4(out + r * n + 4);
            for (int k = 0; k < depth; k++) {
                const v4d y = load4(right + k * n), z = load4(right + k * n + 4);
                for (int r = 0; r < 4; r++) {
                    const double x = left[r * depth + k];
                    const v4d all = {x, x, x, x};
                    low[r] = RealFma::run(all, y, low[r]);
                    high[r] = RealFma::run(all, z, high[r]);
                }
            }
            for (int r = 0; r < 4; r++) store4(out + r * n, low[r]), store4(out + r * n + 4, high[r]);
        }
}

Type type_of_b(const Ins &i) { return (i32)i.e > 0 ? (Type)i.e : i.ta; }
Type type_of_d(const Ins &i) { return i.width ? (Type)i.width : i.tb; }

// List entries of D, A, B and C.
struct Lengths {
    int d, a, b, c;
};
Lengths lengths_of(const Ins &i) {
    const Shape s = kShapes[i.sub];
    return {fragment_rows(s.m * s.n, type_of_d(i), false), fragment_rows(s.m * s.k, i.ta, s.wmma),
            fragment_rows(s.k * s.n, type_of_b(i), s.wmma), fragment_rows(s.m * s.n, i.tb, false)};
}

void multiply(Warp &w, const Ins &i, u32 m) {
    const Shape s = kShapes[i.sub];
    const Lengths count = lengths_of(i);
    Matrix a, b, c;
    a.rows = s.m, a.columns = s.k, b.rows = s.k, b.columns = s.n, c.rows = s.m, c.columns = s.n;
    const Ref *list = i.list + count.d;
    gather<Part::a>(w, list, count.a, i.ta, s.wmma, a);
    gather<Part::b>(w, list += count.a, count.b, type_of_b(i), s.wmma, b);
    gather<Part::c>(w, list += count.b, count.c, i.tb, s.wmma, c);
    multiply_add(a, b, c);
    const Type d = type_of_d(i);
    if (packed_in_row(d) == 2)
        scatter<2>(w, i, count.d, d, s.wmma, m, c);
    else
        scatter<1>(w, i, count.d, d, s.wmma, m, c);
}

bool types_fit(const Ins &i) {
    const Type b = type_of_b(i), d = type_of_d(i);
    const Shape s = kShapes[i.sub];
    switch (i.ta) {
        case Type::F16:
            return b == i.ta && s.k >= 8 && s.k < 32 && (i.tb == Type::F32 || i.tb == Type::F16) &&
                   (d == Type::F32 || d == Type::F16);
        case Type::BF16: return b == i.ta && s.k >= 8 && s.k < 32 && i.tb == Type::F32 && d == Type::F32;
        case Type::TF32: return b == i.ta && s.k <= 8 && i.tb == Type::F32 && d == Type::F32;
        case Type::S8:
        case Type::U8: return (b == Type::S8 || b == Type::U8) && s.k >= 16 && i.tb == Type::S32 && d == Type::S32;
        case Type::F64: return b == i.ta && s.k <= 16 && i.tb == Type::F64 && d == Type::F64;
        default: return false;
    }
}

}  // namespace

Handler find_tensor(const Ins &i) {
    if (i.op != Op::MMA || i.sub >= sizeof kShapes / sizeof *kShapes || !types_fit(i)) return nullptr;
    const Lengths count = lengths_of(i);
    if (count.a == 0 || count.b == 0 || i.vec != count.d + count.a + count.b + count.c) return nullptr;
    return multiply;
}

}  // namespace warpsight
