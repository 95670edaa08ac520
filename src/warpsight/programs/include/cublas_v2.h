// What the stand-in cuBLAS has: the names, forms and numbers of cuBLAS 13, for programs that are built without NVIDIA's
// headers. A function that is not here is an error of the compiler with its name.
#pragma once
#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>
#include <library_types.h>
#include <stddef.h>
#include <stdint.h>

#define CUBLAS_VER_MAJOR 13
#define CUBLAS_VER_MINOR 0
#define CUBLAS_VER_PATCH 0
#define CUBLAS_VER_BUILD 0
#define CUBLAS_VERSION 130000
#define CUBLASWINAPI

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    CUBLAS_STATUS_SUCCESS = 0,
    CUBLAS_STATUS_NOT_INITIALIZED = 1,
    CUBLAS_STATUS_ALLOC_FAILED = 3,
    CUBLAS_STATUS_INVALID_VALUE = 7,
    CUBLAS_STATUS_ARCH_MISMATCH = 8,
    CUBLAS_STATUS_MAPPING_ERROR = 11,
    CUBLAS_STATUS_EXECUTION_FAILED = 13,
    CUBLAS_STATUS_INTERNAL_ERROR = 14,
    CUBLAS_STATUS_NOT_SUPPORTED = 15,
    CUBLAS_STATUS_LICENSE_ERROR = 16
} cublasStatus_t;
typedef enum { CUBLAS_FILL_MODE_LOWER = 0, CUBLAS_FILL_MODE_UPPER = 1, CUBLAS_FILL_MODE_FULL = 2 } cublasFillMode_t;
typedef enum { CUBLAS_DIAG_NON_UNIT = 0, CUBLAS_DIAG_UNIT = 1 } cublasDiagType_t;
typedef enum { CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1 } cublasSideMode_t;
typedef enum {
    CUBLAS_OP_N = 0,
    CUBLAS_OP_T = 1,
    CUBLAS_OP_C = 2,
    CUBLAS_OP_HERMITAN = 2,
    CUBLAS_OP_CONJG = 3
} cublasOperation_t;
typedef enum { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 } cublasPointerMode_t;
typedef enum { CUBLAS_ATOMICS_NOT_ALLOWED = 0, CUBLAS_ATOMICS_ALLOWED = 1 } cublasAtomicsMode_t;
typedef enum {
    CUBLAS_GEMM_DFALT = -1,
    CUBLAS_GEMM_DEFAULT = -1,
    CUBLAS_GEMM_ALGO0 = 0,
    CUBLAS_GEMM_ALGO23 = 23,
    CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99,
    CUBLAS_GEMM_DFALT_TENSOR_OP = 99,
    CUBLAS_GEMM_ALGO0_TENSOR_OP = 100,
    CUBLAS_GEMM_ALGO15_TENSOR_OP = 115
} cublasGemmAlgo_t;
typedef enum {
    CUBLAS_DEFAULT_MATH = 0,
    CUBLAS_TENSOR_OP_MATH = 1,
    CUBLAS_PEDANTIC_MATH = 2,
    CUBLAS_TF32_TENSOR_OP_MATH = 3,
    CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16
} cublasMath_t;
typedef enum {
    CUBLAS_COMPUTE_16F = 64,
    CUBLAS_COMPUTE_16F_PEDANTIC = 65,
    CUBLAS_COMPUTE_32F = 68,
    CUBLAS_COMPUTE_32F_PEDANTIC = 69,
    CUBLAS_COMPUTE_64F = 70,
    CUBLAS_COMPUTE_64F_PEDANTIC = 71,
    CUBLAS_COMPUTE_32I = 72,
    CUBLAS_COMPUTE_32I_PEDANTIC = 73,
    CUBLAS_COMPUTE_32F_FAST_16F = 74,
    CUBLAS_COMPUTE_32F_FAST_16BF = 75,
    CUBLAS_COMPUTE_32F_FAST_TF32 = 77
} cublasComputeType_t;
typedef cudaDataType cublasDataType_t;
typedef struct cublasContext *cublasHandle_t;

cublasStatus_t cublasCreate_v2(cublasHandle_t *handle);
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle);
cublasStatus_t cublasGetVersion_v2(cublasHandle_t handle, int *version);
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t *stream);
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void *workspace, size_t bytes);
cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode);
cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t *mode);
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t *mode);
const char *cublasGetStatusName(cublasStatus_t status);
const char *cublasGetStatusString(cublasStatus_t status);
cublasStatus_t cublasSetVector(int n, int size, const void *x, int incx, void *y, int incy);
cublasStatus_t cublasGetVector(int n, int size, const void *x, int incx, void *y, int incy);
cublasStatus_t cublasSetMatrix(int rows, int cols, int size, const void *a, int lda, void *b, int ldb);
cublasStatus_t cublasGetMatrix(int rows, int cols, int size, const void *a, int lda, void *b, int ldb);
cublasStatus_t cublasSetVectorAsync(int n, int size, const void *x, int incx, void *y, int incy, cudaStream_t s);
cublasStatus_t cublasGetVectorAsync(int n, int size, const void *x, int incx, void *y, int incy, cudaStream_t s);
cublasStatus_t cublasSetMatrixAsync(int rows, int cols, int size, const void *a, int lda, void *b, int ldb,
                                    cudaStream_t s);
cublasStatus_t cublasGetMatrixAsync(int rows, int cols, int size, const void *a, int lda, void *b, int ldb,
                                    cudaStream_t s);

// Functions that come for each type of number: L is the letter in their names, T the type.
#define WS_CUBLAS_REAL_OR_COMPLEX(L, T)                                                                                \
    cublasStatus_t cublas##L##axpy_v2(cublasHandle_t, int n, const T *alpha, const T *x, int incx, T *y, int incy);    \
    cublasStatus_t cublas##L##scal_v2(cublasHandle_t, int n, const T *alpha, T *x, int incx);                          \
    cublasStatus_t cublas##L##copy_v2(cublasHandle_t, int n, const T *x, int incx, T *y, int incy);                    \
    cublasStatus_t cublas##L##swap_v2(cublasHandle_t, int n, T *x, int incx, T *y, int incy);                          \
    cublasStatus_t cublas##L##gemv_v2(cublasHandle_t, cublasOperation_t, int m, int n, const T *alpha, const T *a,     \
                                      int lda, const T *x, int incx, const T *beta, T *y, int incy);                   \
    cublasStatus_t cublas##L##gemm_v2(cublasHandle_t, cublasOperation_t, cublasOperation_t, int m, int n, int k,       \
                                      const T *alpha, const T *a, int lda, const T *b, int ldb, const T *beta, T *c,   \
                                      int ldc);                                                                        \
    cublasStatus_t cublas##L##gemmBatched(cublasHandle_t, cublasOperation_t, cublasOperation_t, int m, int n, int k,   \
                                          const T *alpha, const T *const a[], int lda, const T *const b[], int ldb,    \
                                          const T *beta, T *const c[], int ldc, int count);                            \
    cublasStatus_t cublas##L##gemmStridedBatched(                                                                      \
        cublasHandle_t, cublasOperation_t, cublasOperation_t, int m, int n, int k, const T *alpha, const T *a,         \
        int lda, long long stride_a, const T *b, int ldb, long long stride_b, const T *beta, T *c, int ldc,            \
        long long stride_c, int count);                                                                                \
    cublasStatus_t cublas##L##geam(cublasHandle_t, cublasOperation_t, cublasOperation_t, int m, int n, const T *alpha, \
                                   const T *a, int lda, const T *beta, const T *b, int ldb, T *c, int ldc);            \
    cublasStatus_t cublas##L##dgmm(cublasHandle_t, cublasSideMode_t, int m, int n, const T *a, int lda, const T *x,    \
                                   int incx, T *c, int ldc);                                                           \
    cublasStatus_t cublas##L##trsm_v2(cublasHandle_t, cublasSideMode_t, cublasFillMode_t, cublasOperation_t,           \
                                      cublasDiagType_t, int m, int n, const T *alpha, const T *a, int lda, T *b,       \
                                      int ldb);                                                                        \
    cublasStatus_t cublas##L##getrfBatched(cublasHandle_t, int n, T *const a[], int lda, int *pivots, int *info,       \
                                           int count);                                                                 \
    cublasStatus_t cublas##L##gelsBatched(cublasHandle_t, cublasOperation_t, int m, int n, int nrhs, T *const a[],     \
                                          int lda, T *const c[], int ldc, int *info, int *dev_info, int count);
WS_CUBLAS_REAL_OR_COMPLEX(S, float)
WS_CUBLAS_REAL_OR_COMPLEX(D, double)
WS_CUBLAS_REAL_OR_COMPLEX(C, cuComplex)
WS_CUBLAS_REAL_OR_COMPLEX(Z, cuDoubleComplex)
#undef WS_CUBLAS_REAL_OR_COMPLEX

#define WS_CUBLAS_NORMS(L, R, T, N)                                                                 \
    cublasStatus_t cublas##R##nrm2_v2(cublasHandle_t, int n, const T *x, int incx, N *result);      \
    cublasStatus_t cublas##R##asum_v2(cublasHandle_t, int n, const T *x, int incx, N *result);      \
    cublasStatus_t cublasI##L##amax_v2(cublasHandle_t, int n, const T *x, int incx, int *result);   \
    cublasStatus_t cublasI##L##amin_v2(cublasHandle_t, int n, const T *x, int incx, int *result);
WS_CUBLAS_NORMS(s, S, float, float)
WS_CUBLAS_NORMS(d, D, double, double)
WS_CUBLAS_NORMS(c, Sc, cuComplex, float)
WS_CUBLAS_NORMS(z, Dz, cuDoubleComplex, double)
#undef WS_CUBLAS_NORMS

#define WS_CUBLAS_DOT(NAME, T) \
    cublasStatus_t cublas##NAME##_v2(cublasHandle_t, int n, const T *x, int incx, const T *y, int incy, T *result);
WS_CUBLAS_DOT(Sdot, float)
WS_CUBLAS_DOT(Ddot, double)
WS_CUBLAS_DOT(Cdotu, cuComplex)
WS_CUBLAS_DOT(Cdotc, cuComplex)
WS_CUBLAS_DOT(Zdotu, cuDoubleComplex)
WS_CUBLAS_DOT(Zdotc, cuDoubleComplex)
#undef WS_CUBLAS_DOT

#define WS_CUBLAS_GER(NAME, T)                                                                                    \
    cublasStatus_t cublas##NAME##_v2(cublasHandle_t, int m, int n, const T *alpha, const T *x, int incx, const T *y, \
                                     int incy, T *a, int lda);
WS_CUBLAS_GER(Sger, float)
WS_CUBLAS_GER(Dger, double)
#undef WS_CUBLAS_GER

cublasStatus_t cublasDotEx(cublasHandle_t, int n, const void *x, cudaDataType x_type, int incx, const void *y,
                           cudaDataType y_type, int incy, void *result, cudaDataType result_type,
                           cudaDataType compute_type);
cublasStatus_t cublasHgemm(cublasHandle_t, cublasOperation_t, cublasOperation_t, int m, int n, int k,
                           const __half *alpha, const __half *a, int lda, const __half *b, int ldb, const __half *beta,
                           __half *c, int ldc);
cublasStatus_t cublasHgemmBatched(cublasHandle_t, cublasOperation_t, cublasOperation_t, int m, int n, int k,
                                  const __half *alpha, const __half *const a[], int lda, const __half *const b[],
                                  int ldb, const __half *beta, __half *const c[], int ldc, int count);
cublasStatus_t cublasHgemmStridedBatched(cublasHandle_t, cublasOperation_t, cublasOperation_t, int m, int n, int k,
                                         const __half *alpha, const __half *a, int lda, long long stride_a,
                                         const __half *b, int ldb, long long stride_b, const __half *beta, __half *c,
                                         int ldc, long long stride_c, int count);
cublasStatus_t cublasGemmEx(cublasHandle_t, cublasOperation_t, cublasOperation_t, int m, int n, int k,
                            const void *alpha, const void *a, cudaDataType a_type, int lda, const void *b,
                            cudaDataType b_type, int ldb, const void *beta, void *c, cudaDataType c_type, int ldc,
                            cublasComputeType_t, cublasGemmAlgo_t);
cublasStatus_t cublasGemmBatchedEx(cublasHandle_t, cublasOperation_t, cublasOperation_t, int m, int n, int k,
                                   const void *alpha, const void *const a[], cudaDataType a_type, int lda,
                                   const void *const b[], cudaDataType b_type, int ldb, const void *beta,
                                   void *const c[], cudaDataType c_type, int ldc, int count, cublasComputeType_t,
                                   cublasGemmAlgo_t);
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t, cublasOperation_t, cublasOperation_t, int m, int n, int k,
                                          const void *alpha, const void *a, cudaDataType a_type, int lda,
                                          long long stride_a, const void *b, cudaDataType b_type, int ldb,
                                          long long stride_b, const void *beta, void *c, cudaDataType c_type, int ldc,
                                          long long stride_c, int count, cublasComputeType_t, cublasGemmAlgo_t);

#ifdef __cplusplus
}
#endif

#define cublasCreate cublasCreate_v2
#define cublasDestroy cublasDestroy_v2
#define cublasGetVersion cublasGetVersion_v2
#define cublasSetStream cublasSetStream_v2
#define cublasGetStream cublasGetStream_v2
#define cublasSetWorkspace cublasSetWorkspace_v2
#define cublasSetPointerMode cublasSetPointerMode_v2
#define cublasGetPointerMode cublasGetPointerMode_v2
#define cublasSaxpy cublasSaxpy_v2
#define cublasDaxpy cublasDaxpy_v2
#define cublasCaxpy cublasCaxpy_v2
#define cublasZaxpy cublasZaxpy_v2
#define cublasSscal cublasSscal_v2
#define cublasDscal cublasDscal_v2
#define cublasCscal cublasCscal_v2
#define cublasZscal cublasZscal_v2
#define cublasScopy cublasScopy_v2
#define cublasDcopy cublasDcopy_v2
#define cublasCcopy cublasCcopy_v2
#define cublasZcopy cublasZcopy_v2
#define cublasSswap cublasSswap_v2
#define cublasDswap cublasDswap_v2
#define cublasCswap cublasCswap_v2
#define cublasZswap cublasZswap_v2
#define cublasSdot cublasSdot_v2
#define cublasDdot cublasDdot_v2
#define cublasCdotu cublasCdotu_v2
#define cublasCdotc cublasCdotc_v2
#define cublasZdotu cublasZdotu_v2
#define cublasZdotc cublasZdotc_v2
#define cublasSnrm2 cublasSnrm2_v2
#define cublasDnrm2 cublasDnrm2_v2
#define cublasScnrm2 cublasScnrm2_v2
#define cublasDznrm2 cublasDznrm2_v2
#define cublasSasum cublasSasum_v2
#define cublasDasum cublasDasum_v2
#define cublasScasum cublasScasum_v2
#define cublasDzasum cublasDzasum_v2
#define cublasIsamax cublasIsamax_v2
#define cublasIdamax cublasIdamax_v2
#define cublasIcamax cublasIcamax_v2
#define cublasIzamax cublasIzamax_v2
#define cublasIsamin cublasIsamin_v2
#define cublasIdamin cublasIdamin_v2
#define cublasIcamin cublasIcamin_v2
#define cublasIzamin cublasIzamin_v2
#define cublasSgemv cublasSgemv_v2
#define cublasDgemv cublasDgemv_v2
#define cublasCgemv cublasCgemv_v2
#define cublasZgemv cublasZgemv_v2
#define cublasSger cublasSger_v2
#define cublasDger cublasDger_v2
#define cublasSgemm cublasSgemm_v2
#define cublasDgemm cublasDgemm_v2
#define cublasCgemm cublasCgemm_v2
#define cublasZgemm cublasZgemm_v2
#define cublasStrsm cublasStrsm_v2
#define cublasDtrsm cublasDtrsm_v2
#define cublasCtrsm cublasCtrsm_v2
#define cublasZtrsm cublasZtrsm_v2
