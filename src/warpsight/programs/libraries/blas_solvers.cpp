// The stand-in cuBLAS: triangular systems, and batches of factorisations and of least squares.
#include "blas.hpp"

namespace stand_in {
namespace {

// x := op(a)^-1 x for one column. `lower` is that of op(a).
template <class T, class At>
void solve_column(i64 n, bool lower, bool unit, const At &a, T *x, i64 step) {
    for (i64 r = 0; r < n; r++) {
        const i64 i = lower ? r : n - 1 - r;
        T sum = x[i * step];
        for (i64 q = 0; q < r; q++) {
            const i64 j = lower ? q : n - 1 - q;
            sum -= a(i, j) * x[j * step];
        }
        x[i * step] = unit ? sum : sum / a(i, i);
    }
}

template <class T>
cublasStatus_t trsm(cublasHandle_t h, const char *name, cublasSideMode_t side, cublasFillMode_t fill,
                    cublasOperation_t op, cublasDiagType_t diagonal, i64 m, i64 n, const void *alpha, const void *a0,
                    i64 lda, void *b0, i64 ldb) {
    const Scalar<T> by(h, alpha);
    const i64 order = side == CUBLAS_SIDE_LEFT ? m : n;
    if (m < 0 || n < 0 || lda < std::max<i64>(1, order) || ldb < std::max<i64>(1, m))
        return CUBLAS_STATUS_INVALID_VALUE;
    return perform(h, [=] {
        const T *a = (const T *)a0;
        T *b = (T *)b0;
        if (!by.good(name) || !reachable(name, {matrix_extent(a, (u64)order, (u64)order, lda, sizeof(T)),
                                                matrix_extent(b, (u64)m, (u64)n, ldb, sizeof(T))}))
            return CUBLAS_STATUS_EXECUTION_FAILED;
        const bool left = side == CUBLAS_SIDE_LEFT, unit = diagonal == CUBLAS_DIAG_UNIT;
        const bool turned = (op != CUBLAS_OP_N) != !left;  // X op(A) = B is op(A)^T X^T = B^T
        const bool conj = op == CUBLAS_OP_C, lower = (fill == CUBLAS_FILL_MODE_LOWER) != turned;
        const auto at = [=](i64 i, i64 j) {
            const T v = turned ? a[i * lda + j] : a[j * lda + i];
            return conj ? conjugate(v) : v;
        };
        const T scale = by.get();
        for (i64 j = 0; j < n; j++)
            for (i64 i = 0; i < m; i++) b[j * ldb + i] *= scale;
        for (i64 q = 0; q < (left ? n : m); q++)
            solve_column(order, lower, unit, at, left ? b + q * ldb : b + q, left ? 1 : ldb);
        note_written(b, (u64)m * sizeof(T), (u64)n, (u64)ldb * sizeof(T));
        library_call(name, kWork<T> * (double)order * (double)(m * n), 3.0 * (double)((u64)(m * n) * sizeof(T)),
                     arithmetic<T>(h));
        return CUBLAS_STATUS_SUCCESS;
    });
}

// Rows exchanged, numbered from 1; the number of the first pivot that is zero, or 0.
template <class T>
int factor(i64 n, T *a, i64 lda, int *pivots) {
    int info = 0;
    for (i64 j = 0; j < n; j++) {
        i64 best = j;
        if (pivots) {
            for (i64 i = j + 1; i < n; i++)
                if (std::abs(a[j * lda + i]) > std::abs(a[j * lda + best])) best = i;
            pivots[j] = (int)best + 1;
            for (i64 q = 0; best != j && q < n; q++) std::swap(a[q * lda + j], a[q * lda + best]);
        }
        const T pivot = a[j * lda + j];
        if (pivot == T(0)) {
            if (!info) info = (int)j + 1;
            continue;
        }
        for (i64 i = j + 1; i < n; i++) a[j * lda + i] /= pivot;
        for (i64 q = j + 1; q < n; q++)
            for (i64 i = j + 1; i < n; i++) a[q * lda + i] -= a[j * lda + i] * a[q * lda + j];
    }
    return info;
}

template <class T>
cublasStatus_t getrf(cublasHandle_t h, const char *name, i64 n, void *const *matrices, i64 lda, int *pivots, int *info,
                     i64 count) {
    if (n < 0 || count < 0 || lda < std::max<i64>(1, n)) return CUBLAS_STATUS_INVALID_VALUE;
    return perform(h, [=] {
        const u64 every = (u64)count;
        if (!reachable(name, {{matrices, every * 8}, {info, every * 4}, {pivots, pivots ? every * (u64)n * 4 : 0}}))
            return CUBLAS_STATUS_EXECUTION_FAILED;
        for (i64 i = 0; i < count; i++) {
            T *a = (T *)matrices[i];
            if (!reachable(name, {matrix_extent(a, (u64)n, (u64)n, lda, sizeof(T))}))
                return CUBLAS_STATUS_EXECUTION_FAILED;
            info[i] = factor(n, a, lda, pivots ? pivots + i * n : nullptr);
            note_written(a, (u64)n * sizeof(T), (u64)n, (u64)lda * sizeof(T));
        }
        note_written(info, every * 4, 1, every * 4);
        if (pivots) note_written(pivots, every * (u64)n * 4, 1, every * (u64)n * 4);
        const double size = (double)n;
        library_call(name, kWork<T> * 2.0 / 3.0 * size * size * size * (double)count,
                     2.0 * size * size * (double)count * sizeof(T), arithmetic<T>(h));
        return CUBLAS_STATUS_SUCCESS;
    });
}

// min |a x - c| by reflections: a becomes its triangle above the reflections, c its solution above the remainder.
// 0, or the number of the column that depends on those before it.
template <class T>
int least_squares(i64 m, i64 n, i64 columns, T *a, i64 lda, T *c, i64 ldc) {
    for (i64 k = 0; k < n; k++) {
        T *v = a + k * lda;
        Real<T> norm = 0;
        for (i64 i = k; i < m; i++) norm += std::norm(v[i]);
        norm = std::sqrt(norm);
        if (norm == Real<T>(0)) return (int)k + 1;
        const T head = v[k], turn = std::abs(head) == Real<T>(0) ? T(1) : head / T(std::abs(head));
        const T diagonal = -turn * T(norm), first = head - diagonal;
        Real<T> length = std::norm(first);
        for (i64 i = k + 1; i < m; i++) length += std::norm(v[i]);
        const auto reflect = [&](T *x) {
            T along = conjugate(first) * x[k];
            for (i64 i = k + 1; i < m; i++) along += conjugate(v[i]) * x[i];
            along *= T(Real<T>(2) / length);
            x[k] -= first * along;
            for (i64 i = k + 1; i < m; i++) x[i] -= v[i] * along;
        };
        for (i64 j = k + 1; j < n; j++) reflect(a + j * lda);
        for (i64 j = 0; j < columns; j++) reflect(c + j * ldc);
        for (i64 i = k + 1; i < m; i++) v[i] /= first;
        v[k] = diagonal;
    }
    for (i64 j = 0; j < columns; j++)
        solve_column(n, false, false, [=](i64 r, i64 q) { return a[q * lda + r]; }, c + j * ldc, 1);
    return 0;
}

template <class T>
cublasStatus_t gels(cublasHandle_t h, const char *name, cublasOperation_t op, i64 m, i64 n, i64 columns,
                    void *const *matrices, i64 lda, void *const *sides, i64 ldc, int *info, int *dev_info, i64 count) {
    if (!info) return CUBLAS_STATUS_INVALID_VALUE;
    *info = m < 0                       ? -3
            : n < 0                     ? -4
            : lda < std::max<i64>(1, m) ? -7
            : ldc < std::max<i64>(1, m) ? -9
            : count < 0                 ? -12
                                        : 0;
    if (*info) return CUBLAS_STATUS_INVALID_VALUE;
    if (op != CUBLAS_OP_N || m < n) return CUBLAS_STATUS_NOT_SUPPORTED;  // as cuBLAS has it
    return perform(h, [=] {
        const u64 every = (u64)count;
        if (!reachable(name, {{matrices, every * 8}, {sides, every * 8}, {dev_info, dev_info ? every * 4 : 0}}))
            return CUBLAS_STATUS_EXECUTION_FAILED;
        for (i64 i = 0; i < count; i++) {
            T *a = (T *)matrices[i], *c = (T *)sides[i];
            if (!reachable(name, {matrix_extent(a, (u64)m, (u64)n, lda, sizeof(T)),
                                  matrix_extent(c, (u64)m, (u64)columns, ldc, sizeof(T))}))
                return CUBLAS_STATUS_EXECUTION_FAILED;
            const int found = least_squares(m, n, columns, a, lda, c, ldc);
            if (dev_info) dev_info[i] = found;
            note_written(a, (u64)m * sizeof(T), (u64)n, (u64)lda * sizeof(T));
            note_written(c, (u64)m * sizeof(T), (u64)columns, (u64)ldc * sizeof(T));
        }
        if (dev_info) note_written(dev_info, every * 4, 1, every * 4);
        const double work = 2.0 * (double)(n * n) * ((double)m - (double)n / 3.0) + 4.0 * (double)(m * n * columns);
        library_call(name, kWork<T> * work * (double)count,
                     2.0 * (double)((u64)(m * (n + columns) * count) * sizeof(T)), arithmetic<T>(h));
        return CUBLAS_STATUS_SUCCESS;
    });
}

}  // namespace
}  // namespace stand_in

using namespace stand_in;

#define SOLVERS(L, D, T)                                                                                           \
    WS_API cublasStatus_t cublas##L##trsm_v2(cublasHandle_t h, cublasSideMode_t side, cublasFillMode_t fill,       \
                                             cublasOperation_t op, cublasDiagType_t diagonal, int m, int n,        \
                                             const D *alpha, const D *a, int lda, D *b, int ldb) {                 \
        return trsm<T>(h, "cublas" #L "trsm", side, fill, op, diagonal, m, n, alpha, a, lda, b, ldb);              \
    }                                                                                                              \
    WS_API cublasStatus_t cublas##L##getrfBatched(cublasHandle_t h, int n, D *const a[], int lda, int *pivots,     \
                                                  int *info, int count) {                                          \
        return getrf<T>(h, "cublas" #L "getrfBatched", n, (void *const *)a, lda, pivots, info, count);             \
    }                                                                                                              \
    WS_API cublasStatus_t cublas##L##gelsBatched(cublasHandle_t h, cublasOperation_t op, int m, int n, int nrhs,   \
                                                 D *const a[], int lda, D *const c[], int ldc, int *info,          \
                                                 int *dev_info, int count) {                                       \
        return gels<T>(h, "cublas" #L "gelsBatched", op, m, n, nrhs, (void *const *)a, lda, (void *const *)c, ldc, \
                       info, dev_info, count);                                                                     \
    }
SOLVERS(S, float, float)
SOLVERS(D, double, double)
SOLVERS(C, cuComplex, c32)
SOLVERS(Z, cuDoubleComplex, c64)
