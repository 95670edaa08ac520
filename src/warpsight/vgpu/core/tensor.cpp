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
constexpr Shape kShapes[] = {{16, 8, 16, false}, {16, 8, 8, false}, {8, 8, 4, false}, {16, 8, 32, false},
                             {16, 8, 4, false},  {8, 8, 16, false}, {16, 16, 16, true}, {32, 8, 16, true},
                             {8, 32, 16, true},  {16, 16, 8, true}, {8, 8, 4, true}};

// How a type lies in a fragment: elements per row (F64: one element over two rows).
int packed_in_row(Type t) {
    switch (t) {
    case Type::F16: case Type::BF16: return 2;
    case Type::S8: case Type::U8: return 4;
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
    switch (t) {
    case Type::F16:
    case Type::BF16:
        if (t == Type::F16) take_halves<HalfFormat, 2 * kLanes>(w, r, false, f);
        else take_halves<BrainFormat, 2 * kLanes>(w, r, false, f);
        for (int k = 0; k < 2 * kLanes; k++)
            x[k] = f[k];
        return;
    case Type::S8:
        for (int k = 0; k < 4 * kLanes; k++)
            x[k] = (i8)(row[k / 4] >> 8 * (k % 4));
        return;
    case Type::U8:
        for (int k = 0; k < 4 * kLanes; k++)
            x[k] = (u8)(row[k / 4] >> 8 * (k % 4));
        return;
    case Type::S32:
        for (int l = 0; l < kLanes; l++)
            x[l] = (i32)row[l];
        return;
    case Type::F64: {
        auto v = values<double>(w, r);
        for (int l = 0; l < kLanes; l++)
            x[l] = v[l];
        return;
    }
    default: { // F32 and TF32
        const u32 mask = t == Type::TF32 ? 0xffffe000u : kFull;
        for (int l = 0; l < kLanes; l++)
            x[l] = std::bit_cast<float>(row[l] & mask);
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
    case Type::F16:
        HalfFormat::narrow(x, h, 2 * kLanes);
        return write_halves<2 * kLanes>(w, r, m, h);
    case Type::S32: return fill<i32>(w, r, m, [&](int l) { return integer_result(x[l], saturate); });
    case Type::F64: return fill<double>(w, r, m, [&](int l) { return canonical(x[l]); });
    default: return fill<float>(w, r, m, [&](int l) { return canonical((float)x[l]); });
    }
}

enum class Part { a, b, c };

// Where numbers of list entry e lie in the matrix: calls place(index in the entry, row, column). In mma.sync an entry of A or
// B is a tile of eight rows (columns of B) by four lanes; in wmma the fragment is the matrix in row-major order, repeated.
template <class Place> WS_INLINE void each_place(Shape s, Part part, int e, int packed, Place place) {
    const int width = 4 * packed, per_entry = kLanes * packed;
    if (part == Part::c && packed == 1) { // two columns of a row lie in two entries
        for (int l = 0; l < kLanes; l++)
            place(l, l / 4 + 8 * (e / 2), 2 * (l % 4) + e % 2);
        return;
    }
    const int blocks = part != Part::b && s.m == 16 ? 2 : 1;
    const int down = part == Part::c ? 8 * e : 8 * (e % blocks), right = part == Part::c ? 0 : e / blocks * width;
    for (int k = 0; k < per_entry; k++) {
        if (part == Part::b) place(k, right + k % width, k / width);
        else place(k, down + k / width, right + k % width);
    }
}

struct Matrix {
    int rows, columns;
    alignas(32) double at[32 * 32];
};

void gather(const WarpRows &w, const Ref *list, int entries, Type t, Shape s, Part part, Matrix &to) {
    const int packed = packed_in_row(t), per_entry = kLanes * packed, elements = to.rows * to.columns;
    double x[4 * kLanes];
    for (int e = 0; e < entries; e++) {
        read_entry(w, list[e], t, x);
        if (!s.wmma) {
            each_place(s, part, e, packed, [&](int k, int i, int j) { to.at[i * to.columns + j] = x[k]; });
            continue;
        }
        for (int k = 0; k < per_entry; k++) {
            int index = k / packed * (entries * packed) + e * packed + k % packed;
            if (index < elements) to.at[index] = x[k]; // later copies say the same
        }
    }
}

void scatter(const WarpRows &w, const Ref *list, int entries, Type t, Shape s, u32 m, bool saturate, const Matrix &from) {
    const int packed = packed_in_row(t), per_entry = kLanes * packed, elements = from.rows * from.columns;
    double x[4 * kLanes];
    for (int e = 0; e < entries; e++) {
        if (!s.wmma) {
            each_place(s, Part::c, e, packed, [&](int k, int i, int j) { x[k] = from.at[i * from.columns + j]; });
        } else {
            for (int k = 0; k < per_entry; k++)
                x[k] = from.at[(k / packed * (entries * packed) + e * packed + k % packed) % elements];
        }
        write_entry(w, list[e], t, m, x, saturate);
    }
}

typedef double v4d __attribute__((vector_size(32)));

// Fusing changes nothing where the product is exact, which is everywhere but in F64, where it is asked for.
WS_INLINE v4d fused(v4d a, v4d b, v4d c) {
#if defined(__FMA__)
    return (v4d)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
    for (int l = 0; l < 4; l++)
        c[l] = __builtin_fma(a[l], b[l], c[l]);
    return c;
#endif
}

// c += a * b, k ascending; four rows by eight columns at a time.
void multiply_add(const Matrix &a, const Matrix &b, Matrix &c) {
    const int n = c.columns;
    for (int j = 0; j < n; j += 8)
        for (int i = 0; i < c.rows; i += 4) {
            v4d acc[4][2];
            for (int r = 0; r < 4; r++)
                std::memcpy(acc[r], &c.at[(i + r) * n + j], sizeof acc[r]);
            for (int k = 0; k < a.columns; k++) {
                v4d right[2];
                std::memcpy(right, &b.at[k * n + j], sizeof right);
                for (int r = 0; r < 4; r++) {
                    double x = a.at[(i + r) * a.columns + k];
                    v4d left = {x, x, x, x};
                    acc[r][0] = fused(left, right[0], acc[r][0]);
                    acc[r][1] = fused(left, right[1], acc[r][1]);
                }
            }
            for (int r = 0; r < 4; r++)
                std::memcpy(&c.at[(i + r) * n + j], acc[r], sizeof acc[r]);
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
    gather(w, list, count.a, i.ta, s, Part::a, a);
    gather(w, list += count.a, count.b, type_of_b(i), s, Part::b, b);
    gather(w, list += count.b, count.c, i.tb, s, Part::c, c);
    multiply_add(a, b, c);
    scatter(w, i.list, count.d, type_of_d(i), s, m, i.imm & 1, c);
}

bool types_fit(const Ins &i) {
    const Type b = type_of_b(i), d = type_of_d(i);
    const Shape s = kShapes[i.sub];
    switch (i.ta) {
    case Type::F16:
        return b == i.ta && s.k >= 8 && s.k < 32 && (i.tb == Type::F32 || i.tb == Type::F16) && (d == Type::F32 || d == Type::F16);
    case Type::BF16: return b == i.ta && s.k >= 8 && s.k < 32 && i.tb == Type::F32 && d == Type::F32;
    case Type::TF32: return b == i.ta && s.k <= 8 && i.tb == Type::F32 && d == Type::F32;
    case Type::S8: case Type::U8:
        return (b == Type::S8 || b == Type::U8) && s.k >= 16 && i.tb == Type::S32 && d == Type::S32;
    case Type::F64: return b == i.ta && s.k <= 16 && i.tb == Type::F64 && d == Type::F64;
    default: return false;
    }
}

} // namespace

Handler find_tensor(const Ins &i) {
    if (i.op != Op::MMA || i.sub >= sizeof kShapes / sizeof *kShapes || !types_fit(i)) return nullptr;
    const Lengths count = lengths_of(i);
    if (count.a == 0 || count.b == 0 || i.vec != count.d + count.a + count.b + count.c) return nullptr;
    return multiply;
}

} // namespace warpsight
