// What the files of the stand-in cuBLAS share: the handle, scalars on either side, and how a call is made.
#pragma once
#include "../include/cublas_v2.h"
#include "products.hpp"

struct cublasContext {
    cudaStream_t stream = nullptr;
    cublasPointerMode_t pointers = CUBLAS_POINTER_MODE_HOST;
    cublasMath_t math = CUBLAS_DEFAULT_MATH;
};

namespace stand_in {

using c32 = std::complex<float>;
using c64 = std::complex<double>;

// A number that the caller gives by address: read at once, or when the work is done where it lies on the device.
template <class T>
struct Scalar {
    const T *at;
    T value{};
    bool later;
    Scalar(cublasHandle_t h, const void *p) : at((const T *)p), later(h && h->pointers == CUBLAS_POINTER_MODE_DEVICE) {
        if (!later && p) value = *at;
    }
    T get() const { return later ? *at : value; }
    bool good(const char *name) const { return !later || reachable(name, {{at, sizeof(T)}}); }
};

// Do the work now, or when the graph runs that the handle's stream is being captured into.
template <class F>
cublasStatus_t perform(cublasHandle_t h, F work) {
    if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (state_of_device() != cudaSuccess) return CUBLAS_STATUS_EXECUTION_FAILED;
    if (captured(h->stream, [=] { return work() == CUBLAS_STATUS_SUCCESS ? cudaSuccess : cudaErrorUnknown; }))
        return CUBLAS_STATUS_SUCCESS;
    return work();
}

// Results of reductions go to the host or to device memory.
template <class T>
bool put_result(cublasHandle_t h, const char *name, T *to, T value) {
    if (h->pointers == CUBLAS_POINTER_MODE_DEVICE && !reachable(name, {{to, sizeof(T)}})) return false;
    *to = value;
    note_written(to, sizeof(T), 1, sizeof(T));
    return true;
}

// d = alpha * op(a) * op(b) + beta * c, matrices by columns. What comes after is for cublasLt: see products of lt.cpp.
struct Product {
    const char *name;
    cublasOperation_t turn_a, turn_b;
    i64 m, n, k;
    const void *a, *b, *c;
    void *d;
    cudaDataType type_a, type_b, type_c, type_d;
    i64 lda, ldb, ldc, ldd;
    Arithmetic kind;
    c64 alpha{1}, beta{};
    std::function<double(double value, i64 row, i64 column)> after{};
};
bool fits(const Product &);
cublasStatus_t run_product(const Product &);
Arithmetic arithmetic_of(cudaDataType, cublasComputeType_t);

template <class T>
constexpr cudaDataType kType = CUDA_R_32F;
template <>
inline constexpr cudaDataType kType<double> = CUDA_R_64F;
template <>
inline constexpr cudaDataType kType<c32> = CUDA_C_32F;
template <>
inline constexpr cudaDataType kType<c64> = CUDA_C_64F;
template <>
inline constexpr cudaDataType kType<Half> = CUDA_R_16F;
template <class T>
constexpr double kWork = is_complex<T> ? 4.0 : 1.0;  // real multiplications of one

template <class T>
Arithmetic arithmetic(cublasHandle_t h) {
    if (sizeof(Real<T>) == 8) return Arithmetic::tensor_f64;
    if (sizeof(Real<T>) == 2) return Arithmetic::tensor_f16;
    return h->math == CUBLAS_TF32_TENSOR_OP_MATH ? Arithmetic::tensor_tf32 : Arithmetic::f32;
}

}  // namespace stand_in
