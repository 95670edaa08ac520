// The stand-in cuBLAS: products of matrices. Halves and smaller floats are multiplied and summed in float, 8-bit
// integers exactly; a GPU that sums in halves, or multiplies in TF32, is less exact than this.
#include "blas.hpp"

namespace stand_in {
namespace {

Turn turn_of(cublasOperation_t op) {
    return op == CUBLAS_OP_N ? Turn::none : op == CUBLAS_OP_C ? Turn::conjugated : Turn::transposed;
}

template <class T>
void put(const Product &p, const std::vector<T> &products) {
    const u64 m = (u64)p.m, n = (u64)p.n;
    const bool adds = p.beta != c64(0);
    for (u64 j = 0; j < n; j++)
        for (u64 i = 0; i < m; i++) {
            const u64 at = j * (u64)p.ldd + i, from = j * (u64)p.ldc + i;
            if constexpr (is_complex<T>) {
                T v = (T)p.alpha * products[j * m + i];
                if (adds) v += (T)p.beta * ((const T *)p.c)[from];
                ((T *)p.d)[at] = v;
            } else if (p.type_d == kType<T> && p.type_c == kType<T> && !p.after) {
                T v = (T)p.alpha.real() * products[j * m + i];
                if (adds) v += (T)p.beta.real() * ((const T *)p.c)[from];
                ((T *)p.d)[at] = v;
            } else {
                double v = (double)((T)p.alpha.real() * products[j * m + i]);
                if (adds) v += p.beta.real() * number_at(p.c, p.type_c, from);
                put_number(p.d, p.type_d, at, p.after ? p.after(v, (i64)i, (i64)j) : v);
            }
        }
}

template <class T>
void computed(const Product &p) {
    const u64 m = (u64)p.m, n = (u64)p.n, k = (u64)p.k;
    std::vector<T> products(m * n);
    if (k && p.alpha != c64(0)) {
        const auto a = gathered<T>(p.a, p.type_a, m, k, p.lda, turn_of(p.turn_a));
        const auto b = gathered<T>(p.b, p.type_b, k, n, p.ldb, turn_of(p.turn_b));
        multiply<T>(m, n, k, a.data(), b.data(), products.data());
    }
    put(p, products);
}

}  // namespace

Arithmetic arithmetic_of(cudaDataType type, cublasComputeType_t compute) {
    if (type == CUDA_R_64F || type == CUDA_C_64F) return Arithmetic::tensor_f64;
    if (type == CUDA_R_16BF || compute == CUBLAS_COMPUTE_32F_FAST_16BF) return Arithmetic::tensor_bf16;
    if (type == CUDA_R_8I) return Arithmetic::tensor_s8;
    if (type != CUDA_R_32F || compute == CUBLAS_COMPUTE_32F_FAST_16F) return Arithmetic::tensor_f16;
    return compute == CUBLAS_COMPUTE_32F_FAST_TF32 ? Arithmetic::tensor_tf32 : Arithmetic::f32;
}

bool fits(const Product &p) {
    const auto extent = [](const void *at, i64 rows, i64 columns, i64 leading, cudaDataType type) {
        return matrix_extent(at, (u64)rows, (u64)columns, leading, size_of(type));
    };
    const bool a = p.turn_a == CUBLAS_OP_N, b = p.turn_b == CUBLAS_OP_N;
    return reachable(p.name, {extent(p.a, a ? p.m : p.k, a ? p.k : p.m, p.lda, p.type_a),
                              extent(p.b, b ? p.k : p.n, b ? p.n : p.k, p.ldb, p.type_b),
                              extent(p.beta == c64(0) ? p.d : p.c, p.m, p.n, p.beta == c64(0) ? p.ldd : p.ldc,
                                     p.beta == c64(0) ? p.type_d : p.type_c),
                              extent(p.d, p.m, p.n, p.ldd, p.type_d)});
}

static bool possible(const Product &p) {
    const i64 rows_a = p.turn_a == CUBLAS_OP_N ? p.m : p.k, rows_b = p.turn_b == CUBLAS_OP_N ? p.k : p.n;
    const auto known = [](cublasOperation_t op) { return op >= CUBLAS_OP_N && op <= CUBLAS_OP_C; };
    return p.m >= 0 && p.n >= 0 && p.k >= 0 && known(p.turn_a) && known(p.turn_b) &&
           p.lda >= std::max<i64>(1, rows_a) && p.ldb >= std::max<i64>(1, rows_b) && p.ldc >= std::max<i64>(1, p.m) &&
           p.ldd >= std::max<i64>(1, p.m);
}

cublasStatus_t run_product(const Product &p) {
    const bool complex_c = p.type_d == CUDA_C_32F || p.type_d == CUDA_C_64F;
    for (cudaDataType type : {p.type_a, p.type_b, p.type_c, p.type_d}) {
        const bool is = type == CUDA_C_32F || type == CUDA_C_64F;
        if (!size_of(type) || is != complex_c || (is && type != p.type_d))
            return say("%s: this mixture of types is not provided", p.name), CUBLAS_STATUS_NOT_SUPPORTED;
    }
    if (!possible(p)) return CUBLAS_STATUS_INVALID_VALUE;
    if (!fits(p)) return CUBLAS_STATUS_EXECUTION_FAILED;
    if (!p.m || !p.n) return CUBLAS_STATUS_SUCCESS;
    if (p.type_d == CUDA_C_32F)
        computed<c32>(p);
    else if (p.type_d == CUDA_C_64F)
        computed<c64>(p);
    else if (p.type_a == CUDA_R_64F || p.type_a == CUDA_R_8I)
        computed<double>(p);
    else
        computed<float>(p);
    const double m = (double)p.m, n = (double)p.n, k = (double)p.k, size = (double)size_of(p.type_d);
    note_written(p.d, (u64)p.m * size_of(p.type_d), (u64)p.n, (u64)p.ldd * size_of(p.type_d));
    const double moved = m * k * (double)size_of(p.type_a) + k * n * (double)size_of(p.type_b) + m * n * size;
    library_call(p.name, (complex_c ? 8.0 : 2.0) * m * n * k, moved + (p.beta != c64(0) ? m * n * size : 0), p.kind);
    return CUBLAS_STATUS_SUCCESS;
}

namespace {

// One of a batch: matrices at a distance, or at addresses that lie in device memory.
struct Batch {
    i64 count = 1, stride_a = 0, stride_b = 0, stride_c = 0;
    bool by_address = false;
};

// Alpha and beta have the type in which is computed.
c64 scalar(const void *p, cudaDataType type) {
    if (type == CUDA_C_32F) return (c64) * (const c32 *)p;
    if (type == CUDA_C_64F) return *(const c64 *)p;
    return number_at(p, type, 0);
}

cublasStatus_t batched(cublasHandle_t h, Product p, const void *alpha, const void *beta, cudaDataType scalars,
                       Batch batch) {
    const bool later = h && h->pointers == CUBLAS_POINTER_MODE_DEVICE;
    if (!alpha || !beta || batch.count < 0) return CUBLAS_STATUS_INVALID_VALUE;
    if (!later) p.alpha = scalar(alpha, scalars), p.beta = scalar(beta, scalars);
    return perform(h, [=] {
        Product one = p;
        if (later) {
            const u64 size = size_of(scalars);
            if (!reachable(p.name, {{alpha, size}, {beta, size}})) return CUBLAS_STATUS_EXECUTION_FAILED;
            one.alpha = scalar(alpha, scalars), one.beta = scalar(beta, scalars);
        }
        const u64 bytes = (u64)batch.count * sizeof(void *);
        if (batch.by_address && !reachable(p.name, {{p.a, bytes}, {p.b, bytes}, {p.d, bytes}}))
            return CUBLAS_STATUS_EXECUTION_FAILED;
        for (i64 i = 0; i < batch.count; i++) {
            if (batch.by_address) {
                one.a = ((const void *const *)p.a)[i], one.b = ((const void *const *)p.b)[i];
                one.d = ((void *const *)p.d)[i];
            } else {
                one.a = (const char *)p.a + i * batch.stride_a * (i64)size_of(p.type_a);
                one.b = (const char *)p.b + i * batch.stride_b * (i64)size_of(p.type_b);
                one.d = (char *)p.d + i * batch.stride_c * (i64)size_of(p.type_d);
            }
            one.c = one.d;
            if (const cublasStatus_t status = run_product(one)) return status;
        }
        return CUBLAS_STATUS_SUCCESS;
    });
}

template <class T>
Product plain(cublasHandle_t h, const char *name, cublasOperation_t ta, cublasOperation_t tb, i64 m, i64 n, i64 k,
              const void *a, i64 lda, const void *b, i64 ldb, const void *c, i64 ldc) {
    const cudaDataType t = kType<T>;
    return {name,
            ta,
            tb,
            m,
            n,
            k,
            a,
            b,
            c,
            (void *)c,
            t,
            t,
            t,
            t,
            lda,
            ldb,
            ldc,
            ldc,
            h ? arithmetic<T>(h) : Arithmetic::f32};
}

cudaDataType scalars_of(cublasComputeType_t compute, cudaDataType c) {
    switch (compute) {
        case CUBLAS_COMPUTE_16F:
        case CUBLAS_COMPUTE_16F_PEDANTIC: return CUDA_R_16F;
        case CUBLAS_COMPUTE_32I:
        case CUBLAS_COMPUTE_32I_PEDANTIC: return CUDA_R_32I;
        case CUBLAS_COMPUTE_64F:
        case CUBLAS_COMPUTE_64F_PEDANTIC: return c == CUDA_C_64F ? CUDA_C_64F : CUDA_R_64F;
        default: return c == CUDA_C_32F ? CUDA_C_32F : CUDA_R_32F;
    }
}

cublasStatus_t product_ex(cublasHandle_t h, const char *name, cublasOperation_t ta, cublasOperation_t tb, i64 m, i64 n,
                          i64 k, const void *alpha, const void *a, cudaDataType type_a, i64 lda, const void *b,
                          cudaDataType type_b, i64 ldb, const void *beta, const void *c, cudaDataType type_c, i64 ldc,
                          cublasComputeType_t compute, Batch batch) {
    const Product p{name,
                    ta,
                    tb,
                    m,
                    n,
                    k,
                    a,
                    b,
                    c,
                    (void *)c,
                    type_a,
                    type_b,
                    type_c,
                    type_c,
                    lda,
                    ldb,
                    ldc,
                    ldc,
                    arithmetic_of(type_a, compute)};
    return batched(h, p, alpha, beta, scalars_of(compute, type_c), batch);
}

template <class T>
cublasStatus_t geam(cublasHandle_t h, const char *name, cublasOperation_t ta, cublasOperation_t tb, i64 m, i64 n,
                    const void *alpha, const void *a0, i64 lda, const void *beta, const void *b0, i64 ldb, void *c0,
                    i64 ldc) {
    const Scalar<T> by_a(h, alpha), by_b(h, beta);
    const bool na = ta == CUBLAS_OP_N, nb = tb == CUBLAS_OP_N;
    if (m < 0 || n < 0 || lda < std::max<i64>(1, na ? m : n) || ldb < std::max<i64>(1, nb ? m : n) ||
        ldc < std::max<i64>(1, m))
        return CUBLAS_STATUS_INVALID_VALUE;
    return perform(h, [=] {
        if (!by_a.good(name) || !by_b.good(name)) return CUBLAS_STATUS_EXECUTION_FAILED;
        const T x = by_a.get(), y = by_b.get();
        const auto extent = [&](const void *p, bool plain, i64 leading) {
            return matrix_extent(p, (u64)(plain ? m : n), (u64)(plain ? n : m), leading, sizeof(T));
        };
        if ((x != T(0) && !reachable(name, {extent(a0, na, lda)})) ||
            (y != T(0) && !reachable(name, {extent(b0, nb, ldb)})) || !reachable(name, {extent(c0, true, ldc)}))
            return CUBLAS_STATUS_EXECUTION_FAILED;
        std::vector<T> sums((u64)m * (u64)n);
        const auto add = [&](const void *p, i64 leading, cublasOperation_t op, T by) {
            if (by == T(0)) return;
            const auto g = gathered<T>(p, kType<T>, (u64)m, (u64)n, leading, turn_of(op));
            for (size_t i = 0; i < g.size(); i++) sums[i] += by * g[i];
        };
        add(a0, lda, ta, x), add(b0, ldb, tb, y);
        for (i64 j = 0; j < n; j++) std::copy_n(sums.data() + j * m, m, (T *)c0 + j * ldc);
        note_written(c0, (u64)m * sizeof(T), (u64)n, (u64)ldc * sizeof(T));
        library_call(name, 3.0 * (double)sums.size(), 3.0 * (double)(sums.size() * sizeof(T)), Arithmetic::f32);
        return CUBLAS_STATUS_SUCCESS;
    });
}

template <class T>
cublasStatus_t dgmm(cublasHandle_t h, const char *name, cublasSideMode_t side, i64 m, i64 n, const void *a0, i64 lda,
                    const void *x0, i64 incx, void *c0, i64 ldc) {
    if (m < 0 || n < 0 || lda < std::max<i64>(1, m) || ldc < std::max<i64>(1, m)) return CUBLAS_STATUS_INVALID_VALUE;
    return perform(h, [=] {
        const i64 length = side == CUBLAS_SIDE_LEFT ? m : n;
        if (!reachable(name,
                       {matrix_extent(a0, (u64)m, (u64)n, lda, sizeof(T)), vector_extent(x0, length, incx, sizeof(T)),
                        matrix_extent(c0, (u64)m, (u64)n, ldc, sizeof(T))}))
            return CUBLAS_STATUS_EXECUTION_FAILED;
        const T *x = first_of((const T *)x0, length, incx);
        for (i64 j = 0; j < n; j++)
            for (i64 i = 0; i < m; i++)
                ((T *)c0)[j * ldc + i] = ((const T *)a0)[j * lda + i] * x[(side == CUBLAS_SIDE_LEFT ? i : j) * incx];
        note_written(c0, (u64)m * sizeof(T), (u64)n, (u64)ldc * sizeof(T));
        library_call(name, (double)(m * n), 2.0 * (double)((u64)(m * n) * sizeof(T)), Arithmetic::f32);
        return CUBLAS_STATUS_SUCCESS;
    });
}

}  // namespace
}  // namespace stand_in

using namespace stand_in;

#define PRODUCTS(L, D, T, gemm_name)                                                                                  \
    WS_API cublasStatus_t cublas##gemm_name(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m,      \
                                            int n, int k, const D *alpha, const D *a, int lda, const D *b, int ldb,   \
                                            const D *beta, D *c, int ldc) {                                           \
        return batched(h, plain<T>(h, "cublas" #L "gemm", ta, tb, m, n, k, a, lda, b, ldb, c, ldc), alpha, beta,      \
                       kType<T>, {});                                                                                 \
    }                                                                                                                 \
    WS_API cublasStatus_t cublas##L##gemmBatched(                                                                     \
        cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k, const D *alpha,            \
        const D *const a[], int lda, const D *const b[], int ldb, const D *beta, D *const c[], int ldc, int count) {  \
        return batched(h, plain<T>(h, "cublas" #L "gemmBatched", ta, tb, m, n, k, a, lda, b, ldb, c, ldc), alpha,     \
                       beta, kType<T>, {count, 0, 0, 0, true});                                                       \
    }                                                                                                                 \
    WS_API cublasStatus_t cublas##L##gemmStridedBatched(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, \
                                                        int m, int n, int k, const D *alpha, const D *a, int lda,     \
                                                        long long sa, const D *b, int ldb, long long sb,              \
                                                        const D *beta, D *c, int ldc, long long sc, int count) {      \
        return batched(h, plain<T>(h, "cublas" #L "gemmStridedBatched", ta, tb, m, n, k, a, lda, b, ldb, c, ldc),     \
                       alpha, beta, kType<T>, {count, sa, sb, sc, false});                                            \
    }
PRODUCTS(S, float, float, Sgemm_v2)
PRODUCTS(D, double, double, Dgemm_v2)
PRODUCTS(C, cuComplex, c32, Cgemm_v2)
PRODUCTS(Z, cuDoubleComplex, c64, Zgemm_v2)
PRODUCTS(H, __half, Half, Hgemm)

#define ELEMENTWISE(L, D, T)                                                                                          \
    WS_API cublasStatus_t cublas##L##geam(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m, int n, \
                                          const D *alpha, const D *a, int lda, const D *beta, const D *b, int ldb,    \
                                          D *c, int ldc) {                                                            \
        return geam<T>(h, "cublas" #L "geam", ta, tb, m, n, alpha, a, lda, beta, b, ldb, c, ldc);                     \
    }                                                                                                                 \
    WS_API cublasStatus_t cublas##L##dgmm(cublasHandle_t h, cublasSideMode_t side, int m, int n, const D *a, int lda, \
                                          const D *x, int incx, D *c, int ldc) {                                      \
        return dgmm<T>(h, "cublas" #L "dgmm", side, m, n, a, lda, x, incx, c, ldc);                                   \
    }
ELEMENTWISE(S, float, float)
ELEMENTWISE(D, double, double)
ELEMENTWISE(C, cuComplex, c32)
ELEMENTWISE(Z, cuDoubleComplex, c64)

WS_API cublasStatus_t cublasGemmEx(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k,
                                   const void *alpha, const void *a, cudaDataType at, int lda, const void *b,
                                   cudaDataType bt, int ldb, const void *beta, void *c, cudaDataType ct, int ldc,
                                   cublasComputeType_t compute, cublasGemmAlgo_t) {
    return product_ex(h, "cublasGemmEx", ta, tb, m, n, k, alpha, a, at, lda, b, bt, ldb, beta, c, ct, ldc, compute, {});
}
WS_API cublasStatus_t cublasGemmBatchedEx(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m, int n,
                                          int k, const void *alpha, const void *const a[], cudaDataType at, int lda,
                                          const void *const b[], cudaDataType bt, int ldb, const void *beta,
                                          void *const c[], cudaDataType ct, int ldc, int count,
                                          cublasComputeType_t compute, cublasGemmAlgo_t) {
    return product_ex(h, "cublasGemmBatchedEx", ta, tb, m, n, k, alpha, a, at, lda, b, bt, ldb, beta, c, ct, ldc,
                      compute, {count, 0, 0, 0, true});
}
WS_API cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m,
                                                 int n, int k, const void *alpha, const void *a, cudaDataType at,
                                                 int lda, long long sa, const void *b, cudaDataType bt, int ldb,
                                                 long long sb, const void *beta, void *c, cudaDataType ct, int ldc,
                                                 long long sc, int count, cublasComputeType_t compute,
                                                 cublasGemmAlgo_t) {
    return product_ex(h, "cublasGemmStridedBatchedEx", ta, tb, m, n, k, alpha, a, at, lda, b, bt, ldb, beta, c, ct, ldc,
                      compute, {count, sa, sb, sc, false});
}
