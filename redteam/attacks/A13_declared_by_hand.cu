// attack: A13 declares the library's function itself and hopes for the linker
// task: matmul_naive
// expect: does_not_compile
// launch: grid=(1) block=(1) shared=0
extern "C" __device__ int cublasSgemm_v2(void*, int, int, int, int, int, const float*, const float*, int, const float*, int,
                                         const float*, float*, int);
extern "C" __global__ void matmul_naive(const float* A, const float* B, float* C, int M, int N, int K) {
    float one = 1, zero = 0;
    cublasSgemm_v2(nullptr, 0, 0, N, M, K, &one, B, N, A, K, &zero, C, N);
}
