// The stand-in cuBLAS: handles, modes, and copies of vectors and matrices between host and device.
#include "blas.hpp"

using namespace stand_in;

WS_API cublasStatus_t cublasCreate_v2(cublasHandle_t *handle) {
    if (!handle) return CUBLAS_STATUS_INVALID_VALUE;
    *handle = new cublasContext;
    return CUBLAS_STATUS_SUCCESS;
}
WS_API cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
}
WS_API cublasStatus_t cublasGetVersion_v2(cublasHandle_t, int *version) {
    return *version = CUBLAS_VERSION, CUBLAS_STATUS_SUCCESS;
}
WS_API cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    return handle->stream = stream, CUBLAS_STATUS_SUCCESS;
}
WS_API cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t *stream) {
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    return *stream = handle->stream, CUBLAS_STATUS_SUCCESS;
}
WS_API cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void *, size_t) {
    return handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}
WS_API cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode) {
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    return handle->pointers = mode, CUBLAS_STATUS_SUCCESS;
}
WS_API cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t *mode) {
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    return *mode = handle->pointers, CUBLAS_STATUS_SUCCESS;
}
WS_API cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t) {
    return handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}
WS_API cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    return handle->math = mode, CUBLAS_STATUS_SUCCESS;
}
WS_API cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t *mode) {
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    return *mode = handle->math, CUBLAS_STATUS_SUCCESS;
}

static const struct {
    cublasStatus_t status;
    const char *name, *text;
} kStatuses[] = {
    {CUBLAS_STATUS_SUCCESS, "CUBLAS_STATUS_SUCCESS", "success"},
    {CUBLAS_STATUS_NOT_INITIALIZED, "CUBLAS_STATUS_NOT_INITIALIZED", "the library was not initialized"},
    {CUBLAS_STATUS_ALLOC_FAILED, "CUBLAS_STATUS_ALLOC_FAILED", "the resource allocation failed"},
    {CUBLAS_STATUS_INVALID_VALUE, "CUBLAS_STATUS_INVALID_VALUE", "an invalid value was given"},
    {CUBLAS_STATUS_ARCH_MISMATCH, "CUBLAS_STATUS_ARCH_MISMATCH", "the device lacks a feature"},
    {CUBLAS_STATUS_MAPPING_ERROR, "CUBLAS_STATUS_MAPPING_ERROR", "device memory could not be reached"},
    {CUBLAS_STATUS_EXECUTION_FAILED, "CUBLAS_STATUS_EXECUTION_FAILED", "the function failed on the device"},
    {CUBLAS_STATUS_INTERNAL_ERROR, "CUBLAS_STATUS_INTERNAL_ERROR", "an internal operation failed"},
    {CUBLAS_STATUS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED", "the function is not supported"},
    {CUBLAS_STATUS_LICENSE_ERROR, "CUBLAS_STATUS_LICENSE_ERROR", "a license is missing"},
};
WS_API const char *cublasGetStatusName(cublasStatus_t status) {
    for (const auto &s : kStatuses)
        if (s.status == status) return s.name;
    return "unknown status";
}
WS_API const char *cublasGetStatusString(cublasStatus_t status) {
    for (const auto &s : kStatuses)
        if (s.status == status) return s.text;
    return "unknown status";
}

static cublasStatus_t copied(cudaError_t error) {
    return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}
static cublasStatus_t copy_matrix(int rows, int cols, int size, const void *a, int lda, void *b, int ldb,
                                  cudaMemcpyKind kind, cudaStream_t stream) {
    if (rows < 0 || cols < 0 || size <= 0 || lda < rows || ldb < rows) return CUBLAS_STATUS_INVALID_VALUE;
    const size_t s = (size_t)size;
    return copied(
        cudaMemcpy2DAsync(b, (size_t)ldb * s, a, (size_t)lda * s, (size_t)rows * s, (size_t)cols, kind, stream));
}
WS_API cublasStatus_t cublasSetMatrix(int r, int c, int size, const void *a, int lda, void *b, int ldb) {
    return copy_matrix(r, c, size, a, lda, b, ldb, cudaMemcpyHostToDevice, nullptr);
}
WS_API cublasStatus_t cublasGetMatrix(int r, int c, int size, const void *a, int lda, void *b, int ldb) {
    return copy_matrix(r, c, size, a, lda, b, ldb, cudaMemcpyDeviceToHost, nullptr);
}
WS_API cublasStatus_t cublasSetMatrixAsync(int r, int c, int size, const void *a, int lda, void *b, int ldb,
                                           cudaStream_t s) {
    return copy_matrix(r, c, size, a, lda, b, ldb, cudaMemcpyHostToDevice, s);
}
WS_API cublasStatus_t cublasGetMatrixAsync(int r, int c, int size, const void *a, int lda, void *b, int ldb,
                                           cudaStream_t s) {
    return copy_matrix(r, c, size, a, lda, b, ldb, cudaMemcpyDeviceToHost, s);
}
WS_API cublasStatus_t cublasSetVector(int n, int size, const void *x, int incx, void *y, int incy) {
    return copy_matrix(1, n, size, x, incx, y, incy, cudaMemcpyHostToDevice, nullptr);
}
WS_API cublasStatus_t cublasGetVector(int n, int size, const void *x, int incx, void *y, int incy) {
    return copy_matrix(1, n, size, x, incx, y, incy, cudaMemcpyDeviceToHost, nullptr);
}
WS_API cublasStatus_t cublasSetVectorAsync(int n, int size, const void *x, int incx, void *y, int incy,
                                           cudaStream_t s) {
    return copy_matrix(1, n, size, x, incx, y, incy, cudaMemcpyHostToDevice, s);
}
WS_API cublasStatus_t cublasGetVectorAsync(int n, int size, const void *x, int incx, void *y, int incy,
                                           cudaStream_t s) {
    return copy_matrix(1, n, size, x, incx, y, incy, cudaMemcpyDeviceToHost, s);
}
