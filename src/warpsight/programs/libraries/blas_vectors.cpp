// The stand-in cuBLAS: vectors, and matrices with a vector. Sums are kept in double, so that they are as good as any.
#include "blas.hpp"

namespace stand_in {
namespace {

template <class T>
using Wide = std::conditional_t<is_complex<T>, c64, double>;

template <class T>
bool vectors(const char *name, i64 n, const T *x, i64 incx, const T *y = nullptr, i64 incy = 1) {
    return reachable(name,
                     {vector_extent(x, n, incx, sizeof(T)), {y, y ? vector_extent(y, n, incy, sizeof(T)).bytes : 0}});
}
template <class T>
void wrote(T *x, i64 n, i64 step) {
    const u64 apart = (u64)std::abs(step) * sizeof(T);
    if (n > 0) note_written(x, sizeof(T), (u64)n, std::max<u64>(apart, sizeof(T)));
}
template <class T>
void account(const char *name, i64 n, double each, double moved) {
    const auto kind = sizeof(Real<T>) == 8 ? Arithmetic::f64 : Arithmetic::f32;
    library_call(name, kWork<T> * each * (double)n, moved * (double)n * sizeof(T), kind);
}

template <class T>
cublasStatus_t axpy(cublasHandle_t h, const char *name, i64 n, const void *alpha, const void *x0, i64 incx, void *y0,
                    i64 incy) {
    const Scalar<T> by(h, alpha);
    return perform(h, [=] {
        const T *x = (const T *)x0;
        T *y = (T *)y0;
        if (!by.good(name) || !vectors<T>(name, n, x, incx, y, incy)) return CUBLAS_STATUS_EXECUTION_FAILED;
        const T a = by.get(), *from = first_of(x, n, incx);
        T *to = first_of(y, n, incy);
        for (i64 i = 0; i < n; i++) to[i * incy] += a * from[i * incx];
        wrote(y, n, incy), account<T>(name, n, 2, 3);
        return CUBLAS_STATUS_SUCCESS;
    });
}

template <class T>
cublasStatus_t scal(cublasHandle_t h, const char *name, i64 n, const void *alpha, void *x0, i64 inc) {
    const Scalar<T> by(h, alpha);
    return perform(h, [=] {
        T *x = (T *)x0;
        if (inc < 1) return CUBLAS_STATUS_SUCCESS;
        if (!by.good(name) || !vectors<T>(name, n, x, inc)) return CUBLAS_STATUS_EXECUTION_FAILED;
        const T a = by.get();
        for (i64 i = 0; i < n; i++) x[i * inc] *= a;
        wrote(x, n, inc), account<T>(name, n, 1, 2);
        return CUBLAS_STATUS_SUCCESS;
    });
}

template <class T>
cublasStatus_t move(cublasHandle_t h, const char *name, i64 n, void *x0, i64 incx, void *y0, i64 incy, bool both) {
    return perform(h, [=] {
        T *x = (T *)x0, *y = (T *)y0;
        if (!vectors<T>(name, n, x, incx, y, incy)) return CUBLAS_STATUS_EXECUTION_FAILED;
        T *from = first_of(x, n, incx), *to = first_of(y, n, incy);
        for (i64 i = 0; i < n; i++) {
            const T kept = to[i * incy];
            to[i * incy] = from[i * incx];
            if (both) from[i * incx] = kept;
        }
        wrote(y, n, incy), account<T>(name, n, 0, both ? 4 : 2);
        if (both) wrote(x, n, incx);
        return CUBLAS_STATUS_SUCCESS;
    });
}

template <class T>
cublasStatus_t dot(cublasHandle_t h, const char *name, i64 n, const void *x0, i64 incx, const void *y0, i64 incy,
                   void *result, bool conj) {
    return perform(h, [=] {
        const T *x = (const T *)x0, *y = (const T *)y0;
        if (!vectors<T>(name, n, x, incx, y, incy)) return CUBLAS_STATUS_EXECUTION_FAILED;
        const T *a = first_of(x, n, incx), *b = first_of(y, n, incy);
        Wide<T> sum{};
        for (i64 i = 0; i < n; i++)
            sum += (Wide<T>)(conj ? conjugate(a[i * incx]) : a[i * incx]) * (Wide<T>)b[i * incy];
        account<T>(name, n, 2, 2);
        return put_result(h, name, (T *)result, (T)sum) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
    });
}

enum class Norm { euclid, sum };
template <class T>
double size_of_number(T v) {
    if constexpr (is_complex<T>) return std::fabs((double)v.real()) + std::fabs((double)v.imag());
    return std::fabs((double)std::real(v));
}

template <class T>
cublasStatus_t norm(cublasHandle_t h, const char *name, Norm which, i64 n, const void *x0, i64 inc, void *result) {
    return perform(h, [=] {
        const T *x = (const T *)x0;
        if (!vectors<T>(name, n, x, inc)) return CUBLAS_STATUS_EXECUTION_FAILED;
        double largest = 0, sum = 0;
        for (i64 i = 0; i < n && inc > 0; i++) largest = std::max(largest, (double)std::abs(x[i * inc]));
        const double unit = which == Norm::euclid && largest > 0 && std::isfinite(largest) ? largest : 1;
        for (i64 i = 0; i < n && inc > 0; i++)
            sum += which == Norm::sum ? size_of_number(x[i * inc]) : std::norm(std::complex<double>(x[i * inc]) / unit);
        account<T>(name, n, 2, 1);
        const auto found = (Real<T>)(which == Norm::sum ? sum : unit * std::sqrt(sum));
        return put_result(h, name, (Real<T> *)result, found) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
    });
}

template <class T>
cublasStatus_t extreme(cublasHandle_t h, const char *name, bool most, i64 n, const void *x0, i64 inc, int *result) {
    return perform(h, [=] {
        const T *x = (const T *)x0;
        if (!vectors<T>(name, n, x, inc)) return CUBLAS_STATUS_EXECUTION_FAILED;
        i64 found = 0;
        for (i64 i = 1; i < n && inc > 0; i++) {
            const double a = size_of_number(x[i * inc]), b = size_of_number(x[found * inc]);
            if (most ? a > b : a < b) found = i;
        }
        account<T>(name, n, 1, 1);
        const int index = n > 0 && inc > 0 ? (int)found + 1 : 0;
        return put_result(h, name, result, index) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
    });
}

template <class T>
cublasStatus_t gemv(cublasHandle_t h, const char *name, cublasOperation_t op, i64 m, i64 n, const void *alpha,
                    const void *a0, i64 lda, const void *x0, i64 incx, const void *beta, void *y0, i64 incy) {
    const Scalar<T> by(h, alpha), keep(h, beta);
    if (m < 0 || n < 0 || lda < std::max<i64>(1, m) || !incx || !incy) return CUBLAS_STATUS_INVALID_VALUE;
    return perform(h, [=] {
        const T *a = (const T *)a0, *x = (const T *)x0;
        T *y = (T *)y0;
        const i64 rows = op == CUBLAS_OP_N ? m : n, inner = op == CUBLAS_OP_N ? n : m;
        if (!by.good(name) || !keep.good(name) || !vectors<T>(name, inner, x, incx) ||
            !vectors<T>(name, rows, y, incy) || !reachable(name, {matrix_extent(a, (u64)m, (u64)n, lda, sizeof(T))}))
            return CUBLAS_STATUS_EXECUTION_FAILED;
        const T scale = by.get(), old = keep.get(), *from = first_of(x, inner, incx);
        T *to = first_of(y, rows, incy);
        std::vector<Wide<T>> sums((size_t)rows);
        for (i64 j = 0; j < n; j++)
            for (i64 i = 0; i < m; i++) {
                const T v = a[j * lda + i];
                if (op == CUBLAS_OP_N)
                    sums[(size_t)i] += (Wide<T>)v * (Wide<T>)from[j * incx];
                else
                    sums[(size_t)j] += (Wide<T>)(op == CUBLAS_OP_C ? conjugate(v) : v) * (Wide<T>)from[i * incx];
            }
        for (i64 i = 0; i < rows; i++) {
            T &out = to[i * incy];
            out = scale * (T)sums[(size_t)i] + (old == T(0) ? T(0) : old * out);
        }
        wrote(y, rows, incy), account<T>(name, m * n, 2, 1);
        return CUBLAS_STATUS_SUCCESS;
    });
}

template <class T>
cublasStatus_t ger(cublasHandle_t h, const char *name, i64 m, i64 n, const void *alpha, const void *x0, i64 incx,
                   const void *y0, i64 incy, void *a0, i64 lda) {
    const Scalar<T> by(h, alpha);
    if (m < 0 || n < 0 || lda < std::max<i64>(1, m) || !incx || !incy) return CUBLAS_STATUS_INVALID_VALUE;
    return perform(h, [=] {
        const T *x = (const T *)x0, *y = (const T *)y0;
        T *a = (T *)a0;
        if (!by.good(name) || !vectors<T>(name, m, x, incx) || !vectors<T>(name, n, y, incy) ||
            !reachable(name, {matrix_extent(a, (u64)m, (u64)n, lda, sizeof(T))}))
            return CUBLAS_STATUS_EXECUTION_FAILED;
        const T scale = by.get(), *rows = first_of(x, m, incx), *columns = first_of(y, n, incy);
        for (i64 j = 0; j < n; j++)
            for (i64 i = 0; i < m; i++) a[j * lda + i] += scale * rows[i * incx] * columns[j * incy];
        note_written(a, (u64)m * sizeof(T), (u64)n, (u64)lda * sizeof(T)), account<T>(name, m * n, 2, 2);
        return CUBLAS_STATUS_SUCCESS;
    });
}

}  // namespace
}  // namespace stand_in

using namespace stand_in;

#define VECTORS(L, D, T)                                                                                              \
    WS_API cublasStatus_t cublas##L##axpy_v2(cublasHandle_t h, int n, const D *a, const D *x, int ix, D *y, int iy) { \
        return axpy<T>(h, "cublas" #L "axpy", n, a, x, ix, y, iy);                                                    \
    }                                                                                                                 \
    WS_API cublasStatus_t cublas##L##scal_v2(cublasHandle_t h, int n, const D *a, D *x, int ix) {                     \
        return scal<T>(h, "cublas" #L "scal", n, a, x, ix);                                                           \
    }                                                                                                                 \
    WS_API cublasStatus_t cublas##L##copy_v2(cublasHandle_t h, int n, const D *x, int ix, D *y, int iy) {             \
        return move<T>(h, "cublas" #L "copy", n, (D *)x, ix, y, iy, false);                                           \
    }                                                                                                                 \
    WS_API cublasStatus_t cublas##L##swap_v2(cublasHandle_t h, int n, D *x, int ix, D *y, int iy) {                   \
        return move<T>(h, "cublas" #L "swap", n, x, ix, y, iy, true);                                                 \
    }                                                                                                                 \
    WS_API cublasStatus_t cublas##L##gemv_v2(cublasHandle_t h, cublasOperation_t op, int m, int n, const D *alpha,    \
                                             const D *a, int lda, const D *x, int ix, const D *beta, D *y, int iy) {  \
        return gemv<T>(h, "cublas" #L "gemv", op, m, n, alpha, a, lda, x, ix, beta, y, iy);                           \
    }
VECTORS(S, float, float)
VECTORS(D, double, double)
VECTORS(C, cuComplex, c32)
VECTORS(Z, cuDoubleComplex, c64)

#define NORMS(L, R, D, T, N)                                                                              \
    WS_API cublasStatus_t cublas##R##nrm2_v2(cublasHandle_t h, int n, const D *x, int ix, N *result) {    \
        return norm<T>(h, "cublas" #R "nrm2", Norm::euclid, n, x, ix, result);                            \
    }                                                                                                     \
    WS_API cublasStatus_t cublas##R##asum_v2(cublasHandle_t h, int n, const D *x, int ix, N *result) {    \
        return norm<T>(h, "cublas" #R "asum", Norm::sum, n, x, ix, result);                               \
    }                                                                                                     \
    WS_API cublasStatus_t cublasI##L##amax_v2(cublasHandle_t h, int n, const D *x, int ix, int *result) { \
        return extreme<T>(h, "cublasI" #L "amax", true, n, x, ix, result);                                \
    }                                                                                                     \
    WS_API cublasStatus_t cublasI##L##amin_v2(cublasHandle_t h, int n, const D *x, int ix, int *result) { \
        return extreme<T>(h, "cublasI" #L "amin", false, n, x, ix, result);                               \
    }
NORMS(s, S, float, float, float)
NORMS(d, D, double, double, double)
NORMS(c, Sc, cuComplex, c32, float)
NORMS(z, Dz, cuDoubleComplex, c64, double)

#define DOT(NAME, D, T, CONJUGATED)                                                                                    \
    WS_API cublasStatus_t cublas##NAME##_v2(cublasHandle_t h, int n, const D *x, int ix, const D *y, int iy, D *out) { \
        return dot<T>(h, "cublas" #NAME, n, x, ix, y, iy, out, CONJUGATED);                                            \
    }
DOT(Sdot, float, float, false)
DOT(Ddot, double, double, false)
DOT(Cdotu, cuComplex, c32, false)
DOT(Cdotc, cuComplex, c32, true)
DOT(Zdotu, cuDoubleComplex, c64, false)
DOT(Zdotc, cuDoubleComplex, c64, true)

#define GER(NAME, T)                                                                                            \
    WS_API cublasStatus_t cublas##NAME##_v2(cublasHandle_t h, int m, int n, const T *alpha, const T *x, int ix, \
                                            const T *y, int iy, T *a, int lda) {                                \
        return ger<T>(h, "cublas" #NAME, m, n, alpha, x, ix, y, iy, a, lda);                                    \
    }
GER(Sger, float)
GER(Dger, double)

WS_API cublasStatus_t cublasDotEx(cublasHandle_t h, int n, const void *x, cudaDataType x_type, int ix, const void *y,
                                  cudaDataType y_type, int iy, void *out, cudaDataType out_type, cudaDataType) {
    if (x_type != y_type || x_type == CUDA_C_32F || x_type == CUDA_C_64F || !size_of(x_type) || !size_of(out_type))
        return say("cublasDotEx: types %d, %d and %d are not provided", x_type, y_type, out_type),
               CUBLAS_STATUS_NOT_SUPPORTED;
    return perform(h, [=] {
        const char *name = "cublasDotEx";
        const u64 size = size_of(x_type);
        if (!reachable(name, {vector_extent(x, n, ix, size), vector_extent(y, n, iy, size)}) ||
            (h->pointers == CUBLAS_POINTER_MODE_DEVICE && !reachable(name, {{out, size_of(out_type)}})))
            return CUBLAS_STATUS_EXECUTION_FAILED;
        const i64 start_x = ix < 0 ? (i64)(1 - n) * ix : 0, start_y = iy < 0 ? (i64)(1 - n) * iy : 0;
        double sum = 0;
        for (i64 i = 0; i < n; i++)
            sum += number_at(x, x_type, (u64)(start_x + i * ix)) * number_at(y, y_type, (u64)(start_y + i * iy));
        put_number(out, out_type, 0, sum);
        note_written(out, size_of(out_type), 1, size_of(out_type));
        library_call(name, 2.0 * n, 2.0 * n * (double)size, size == 8 ? Arithmetic::f64 : Arithmetic::f32);
        return CUBLAS_STATUS_SUCCESS;
    });
}
