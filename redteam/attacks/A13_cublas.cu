// attack: A13 calls a library that has the answer
// task: matmul_naive
// expect: does_not_compile
// launch: grid=(1) block=(1) shared=0
#include <cublas_v2.h>
extern "C" __global__ void matmul_naive(const float* A, const float* B, float* C, int M, int N, int K) {
    cublasHandle_t handle;
    float one = 1, zero = 0;
    cublasCreate(&handle);
    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, M, K, &one, B, N, A, K, &zero, C, N);
}
