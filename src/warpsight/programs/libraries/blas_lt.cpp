// The stand-in cuBLASLt: descriptors, and products with scales, biases and activations. There is one way to compute
// them, so an algorithm is chosen by nobody. What a descriptor asks for and is not here is an error with its number.
#include "../include/cublasLt.h"
#include "blas.hpp"

namespace stand_in {
namespace {

struct Layout {
    cudaDataType type;
    i64 rows, columns, leading;
    i64 count, stride;
};
struct Wanted {
    cublasComputeType_t compute;
    cudaDataType scale;
    cublasOperation_t turn_a, turn_b;
    int epilogue, pointers;
    const void *bias;
    const float *scales[4];  // of a, b, c and d
    float *amax;
    int bias_type;  // -1: that of d
};
static_assert(sizeof(Layout) <= sizeof(cublasLtMatrixLayoutOpaque_t));
static_assert(sizeof(Wanted) <= sizeof(cublasLtMatmulDescOpaque_t));

Layout *of(cublasLtMatrixLayout_t p) { return (Layout *)p->data; }
Wanted *of(cublasLtMatmulDesc_t p) { return (Wanted *)p->data; }

template <class T>
bool taken(T *to, const void *value, size_t size) {
    if (!value || size < sizeof(T)) return false;
    memcpy(to, value, sizeof(T));
    return true;
}
cublasStatus_t status_of(bool good) { return good ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE; }

double gelu(double x) { return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))); }

constexpr int kRelu = 2, kBias = 4, kGelu = 32;

cublasStatus_t run(const Wanted &w, Product p, const Layout &a, const Layout &b, const Layout &c, const Layout &d) {
    const auto type = w.bias_type < 0 ? p.type_d : (cudaDataType)w.bias_type;
    for (const float *scale : w.scales)
        if (scale && !reachable(p.name, {{scale, 4}})) return CUBLAS_STATUS_EXECUTION_FAILED;
    if ((w.amax && !reachable(p.name, {{w.amax, 4}})) ||
        (w.epilogue & kBias && !reachable(p.name, {vector_extent(w.bias, p.m, 1, size_of(type))})))
        return CUBLAS_STATUS_EXECUTION_FAILED;
    const auto scale = [&](int i) { return w.scales[i] ? (double)*w.scales[i] : 1.0; };
    p.alpha *= scale(0) * scale(1), p.beta *= scale(2);
    double largest = 0;
    const double last = scale(3);
    const int epilogue = w.epilogue;
    const void *bias = w.bias;
    if (epilogue != CUBLASLT_EPILOGUE_DEFAULT || w.scales[3] || w.amax)
        p.after = [=, &largest](double v, i64 row, i64) {
            if (epilogue & kBias) v += number_at(bias, type, (u64)row);
            if (epilogue & kRelu) v = v > 0 ? v : 0;
            if (epilogue & kGelu) v = gelu(v);
            largest = std::max(largest, std::fabs(v));
            return v * last;
        };
    for (i64 i = 0; i < d.count; i++) {
        Product one = p;
        one.a = (const char *)p.a + i * a.stride * (i64)size_of(p.type_a);
        one.b = (const char *)p.b + i * b.stride * (i64)size_of(p.type_b);
        one.c = (const char *)p.c + i * c.stride * (i64)size_of(p.type_c);
        one.d = (char *)p.d + i * d.stride * (i64)size_of(p.type_d);
        if (const cublasStatus_t status = run_product(one)) return status;
    }
    if (w.amax) *w.amax = (float)largest, note_written(w.amax, 4, 1, 4);
    return CUBLAS_STATUS_SUCCESS;
}

c64 scalar(const void *p, cudaDataType type) {
    if (type == CUDA_C_32F) return (c64) * (const c32 *)p;
    if (type == CUDA_C_64F) return *(const c64 *)p;
    return number_at(p, type, 0);
}

}  // namespace
}  // namespace stand_in

using namespace stand_in;

WS_API cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) {
    if (!handle) return CUBLAS_STATUS_INVALID_VALUE;
    *handle = (cublasLtHandle_t) new cublasContext;
    return CUBLAS_STATUS_SUCCESS;
}
WS_API cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
    delete (cublasContext *)handle;
    return CUBLAS_STATUS_SUCCESS;
}
WS_API size_t cublasLtGetVersion() { return CUBLAS_VERSION; }
WS_API const char *cublasLtGetStatusName(cublasStatus_t status) { return cublasGetStatusName(status); }
WS_API const char *cublasLtGetStatusString(cublasStatus_t status) { return cublasGetStatusString(status); }

WS_API cublasStatus_t cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t layout, size_t size, cudaDataType type,
                                                        uint64_t rows, uint64_t cols, int64_t ld) {
    if (!layout || size < sizeof(Layout)) return CUBLAS_STATUS_INVALID_VALUE;
    *of(layout) = {type, (i64)rows, (i64)cols, ld, 1, 0};
    return CUBLAS_STATUS_SUCCESS;
}
WS_API cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout, cudaDataType type, uint64_t rows,
                                                 uint64_t cols, int64_t ld) {
    *layout = new cublasLtMatrixLayoutOpaque_t{};
    return cublasLtMatrixLayoutInit_internal(*layout, sizeof **layout, type, rows, cols, ld);
}
WS_API cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
    delete layout;
    return CUBLAS_STATUS_SUCCESS;
}
WS_API cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                       cublasLtMatrixLayoutAttribute_t which, const void *value,
                                                       size_t size) {
    Layout &l = *of(layout);
    int number = 0;
    switch (which) {
        case CUBLASLT_MATRIX_LAYOUT_TYPE: return status_of(taken(&l.type, value, size));
        case CUBLASLT_MATRIX_LAYOUT_ROWS: return status_of(taken(&l.rows, value, size));
        case CUBLASLT_MATRIX_LAYOUT_COLS: return status_of(taken(&l.columns, value, size));
        case CUBLASLT_MATRIX_LAYOUT_LD: return status_of(taken(&l.leading, value, size));
        case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET: return status_of(taken(&l.stride, value, size));
        case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
            if (!taken(&number, value, size)) return CUBLAS_STATUS_INVALID_VALUE;
            return l.count = number, CUBLAS_STATUS_SUCCESS;
        case CUBLASLT_MATRIX_LAYOUT_ORDER:
            if (taken(&number, value, size) && number == CUBLASLT_ORDER_COL) return CUBLAS_STATUS_SUCCESS;
            break;
    }
    say("cublasLtMatrixLayoutSetAttribute: attribute %d with this value is not provided", which);
    return CUBLAS_STATUS_NOT_SUPPORTED;
}

WS_API cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t desc, size_t size,
                                                      cublasComputeType_t compute, cudaDataType_t scale) {
    if (!desc || size < sizeof(Wanted)) return CUBLAS_STATUS_INVALID_VALUE;
    *of(desc) = {};
    of(desc)->compute = compute, of(desc)->scale = scale;
    of(desc)->epilogue = CUBLASLT_EPILOGUE_DEFAULT, of(desc)->bias_type = -1;
    return CUBLAS_STATUS_SUCCESS;
}
WS_API cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *desc, cublasComputeType_t compute,
                                               cudaDataType_t scale) {
    *desc = new cublasLtMatmulDescOpaque_t{};
    return cublasLtMatmulDescInit_internal(*desc, sizeof **desc, compute, scale);
}
WS_API cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) {
    delete desc;
    return CUBLAS_STATUS_SUCCESS;
}
WS_API cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t which,
                                                     const void *value, size_t size) {
    Wanted &w = *of(desc);
    int number = 0;
    switch (which) {
        case CUBLASLT_MATMUL_DESC_COMPUTE_TYPE: return status_of(taken(&w.compute, value, size));
        case CUBLASLT_MATMUL_DESC_SCALE_TYPE: return status_of(taken(&w.scale, value, size));
        case CUBLASLT_MATMUL_DESC_POINTER_MODE: return status_of(taken(&w.pointers, value, size));
        case CUBLASLT_MATMUL_DESC_TRANSA: return status_of(taken(&w.turn_a, value, size));
        case CUBLASLT_MATMUL_DESC_TRANSB: return status_of(taken(&w.turn_b, value, size));
        case CUBLASLT_MATMUL_DESC_BIAS_POINTER: return status_of(taken(&w.bias, value, size));
        case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE: return status_of(taken(&w.bias_type, value, size));
        case CUBLASLT_MATMUL_DESC_A_SCALE_POINTER:
        case CUBLASLT_MATMUL_DESC_B_SCALE_POINTER:
        case CUBLASLT_MATMUL_DESC_C_SCALE_POINTER:
        case CUBLASLT_MATMUL_DESC_D_SCALE_POINTER:
            return status_of(taken(&w.scales[which - CUBLASLT_MATMUL_DESC_A_SCALE_POINTER], value, size));
        case CUBLASLT_MATMUL_DESC_AMAX_D_POINTER: return status_of(taken(&w.amax, value, size));
        case CUBLASLT_MATMUL_DESC_FAST_ACCUM:
        case CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET: return CUBLAS_STATUS_SUCCESS;  // about speed alone
        case CUBLASLT_MATMUL_DESC_TRANSC:
            if (taken(&number, value, size) && number == CUBLAS_OP_N) return CUBLAS_STATUS_SUCCESS;
            break;
        case CUBLASLT_MATMUL_DESC_EPILOGUE:
            if (taken(&number, value, size))
                for (int known : {1, kRelu, kBias, kRelu | kBias, kGelu, kGelu | kBias})
                    if (number == known) return w.epilogue = number, CUBLAS_STATUS_SUCCESS;
            break;
    }
    say("cublasLtMatmulDescSetAttribute: attribute %d with this value is not provided", which);
    return CUBLAS_STATUS_NOT_SUPPORTED;
}

WS_API cublasStatus_t cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t p, size_t size) {
    if (!p || size < sizeof *p) return CUBLAS_STATUS_INVALID_VALUE;
    return *p = {}, CUBLAS_STATUS_SUCCESS;
}
WS_API cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *p) {
    return *p = new cublasLtMatmulPreferenceOpaque_t{}, CUBLAS_STATUS_SUCCESS;
}
WS_API cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t p) {
    delete p;
    return CUBLAS_STATUS_SUCCESS;
}
WS_API cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t,
                                                           cublasLtMatmulPreferenceAttributes_t, const void *, size_t) {
    return CUBLAS_STATUS_SUCCESS;
}
WS_API cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t,
                                                     cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                                     cublasLtMatrixLayout_t, cublasLtMatmulPreference_t, int wanted,
                                                     cublasLtMatmulHeuristicResult_t results[], int *found) {
    if (wanted < 1 || !results || !found) return CUBLAS_STATUS_INVALID_VALUE;
    results[0] = {};
    results[0].wavesCount = 1, *found = 1;
    return CUBLAS_STATUS_SUCCESS;
}

WS_API cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void *alpha,
                                     const void *a, cublasLtMatrixLayout_t la, const void *b, cublasLtMatrixLayout_t lb,
                                     const void *beta, const void *c, cublasLtMatrixLayout_t lc, void *d,
                                     cublasLtMatrixLayout_t ld, const cublasLtMatmulAlgo_t *, void *, size_t,
                                     cudaStream_t stream) {
    if (!handle || !desc || !la || !lb || !ld || !alpha || !beta) return CUBLAS_STATUS_INVALID_VALUE;
    const Wanted w = *of(desc);
    const Layout x = *of(la), y = *of(lb), z = lc ? *of(lc) : *of(ld), out = *of(ld);
    const bool plain = w.turn_a == CUBLAS_OP_N;
    const i64 m = out.rows, n = out.columns, k = plain ? x.columns : x.rows;
    if ((plain ? x.rows : x.columns) != m || (w.turn_b == CUBLAS_OP_N ? y.columns : y.rows) != n ||
        (w.turn_b == CUBLAS_OP_N ? y.rows : y.columns) != k)
        return CUBLAS_STATUS_INVALID_VALUE;
    Product p{"cublasLtMatmul",
              w.turn_a,
              w.turn_b,
              m,
              n,
              k,
              a,
              b,
              c ? c : d,
              d,
              x.type,
              y.type,
              z.type,
              out.type,
              x.leading,
              y.leading,
              z.leading,
              out.leading,
              arithmetic_of(x.type, w.compute)};
    cublasContext context;
    context.stream = stream;
    if (w.pointers == CUBLASLT_POINTER_MODE_DEVICE &&
        !reachable(p.name, {{alpha, size_of(w.scale)}, {beta, size_of(w.scale)}}))
        return CUBLAS_STATUS_EXECUTION_FAILED;
    p.alpha = scalar(alpha, w.scale), p.beta = scalar(beta, w.scale);
    return perform(&context, [=] { return run(w, p, x, y, z, out); });
}
