#include "products.hpp"

#include <algorithm>

namespace stand_in {
namespace {

template <class T>
T element(const void *p, cudaDataType type, u64 i) {
    if constexpr (is_complex<T>) {
        if (type == CUDA_C_32F) return (T)((const std::complex<float> *)p)[i];
        if (type == CUDA_C_64F) return (T)((const std::complex<double> *)p)[i];
    }
    if (type == CUDA_R_32F) return (T)((const float *)p)[i];
    return (T)(Real<T>)number_at(p, type, i);
}

// Rows of one block, and columns of b at a time: what is written stays in the first cache.
constexpr u64 kRows = 512, kColumns = 4, kDepth = 4;

template <class T>
void block(u64 rows, u64 m, u64 k, const T *a, const T *const *b, T *const *c, u64 columns) {
    u64 p = 0;
    if (columns == kColumns) {
        T *__restrict c0 = c[0], *__restrict c1 = c[1], *__restrict c2 = c[2], *__restrict c3 = c[3];
        for (; p + kDepth <= k; p += kDepth) {
            const T *a0 = a + p * m, *a1 = a0 + m, *a2 = a1 + m, *a3 = a2 + m;
            const T *x = b[0] + p, *y = b[1] + p, *z = b[2] + p, *w = b[3] + p;
            for (u64 i = 0; i < rows; i++) {
                c0[i] += a0[i] * x[0] + a1[i] * x[1] + a2[i] * x[2] + a3[i] * x[3];
                c1[i] += a0[i] * y[0] + a1[i] * y[1] + a2[i] * y[2] + a3[i] * y[3];
                c2[i] += a0[i] * z[0] + a1[i] * z[1] + a2[i] * z[2] + a3[i] * z[3];
                c3[i] += a0[i] * w[0] + a1[i] * w[1] + a2[i] * w[2] + a3[i] * w[3];
            }
        }
    }
    for (; p < k; p++)
        for (u64 j = 0; j < columns; j++) {
            const T by = b[j][p];
            T *__restrict to = c[j];
            const T *column = a + p * m;
            for (u64 i = 0; i < rows; i++) to[i] += column[i] * by;
        }
}

}  // namespace

template <class T>
std::vector<T> gathered(const void *p, cudaDataType type, u64 rows, u64 columns, i64 leading, Turn turn) {
    std::vector<T> out(rows * columns);
    for (u64 j = 0; j < columns; j++)
        for (u64 i = 0; i < rows; i++) {
            if (turn == Turn::none) {
                out[j * rows + i] = element<T>(p, type, j * (u64)leading + i);
            } else {
                const T v = element<T>(p, type, i * (u64)leading + j);
                out[j * rows + i] = turn == Turn::conjugated ? conjugate(v) : v;
            }
        }
    return out;
}

template <class T>
void multiply(u64 m, u64 n, u64 k, const T *a, const T *b, T *c) {
    std::fill(c, c + m * n, T(0));
    constexpr u64 kPart = 256;  // of k at a time: a block of a stays in the second cache
    for (u64 q = 0; q < k; q += kPart)
        for (u64 i = 0; i < m; i += kRows)
            for (u64 j = 0; j < n; j += kColumns) {
                const u64 columns = std::min(kColumns, n - j);
                const T *from[kColumns];
                T *to[kColumns];
                for (u64 x = 0; x < columns; x++) from[x] = b + (j + x) * k + q, to[x] = c + (j + x) * m + i;
                block(std::min(kRows, m - i), m, std::min(kPart, k - q), a + q * m + i, from, to, columns);
            }
}

#define WITH(T)                                                                        \
    template std::vector<T> gathered(const void *, cudaDataType, u64, u64, i64, Turn); \
    template void multiply(u64, u64, u64, const T *, const T *, T *);
WITH(float)
WITH(double)
WITH(std::complex<float>)
WITH(std::complex<double>)
#undef WITH

}  // namespace stand_in
