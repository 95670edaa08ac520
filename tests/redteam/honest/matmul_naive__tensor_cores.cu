// launch: grid=(ceil(N/16), ceil(M/16)) block=(32) shared=0
#include <mma.h>
using namespace nvcuda;
// Three products of tf32 halves of each number keep the precision of float.
extern "C" __global__ void matmul_naive(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float a[16 * 8], b[8 * 16], al[16 * 8], bl[8 * 16], c[16 * 16];
    int row0 = blockIdx.y * 16, col0 = blockIdx.x * 16;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int base = 0; base < K; base += 8) {
        for (int e = threadIdx.x; e < 128; e += 32) {
            int r = e / 8, k = e % 8, kk = e / 16, col = e % 16;
            float x = row0 + r < M && base + k < K ? A[(row0 + r) * K + base + k] : 0.0f;
            float y = col0 + col < N && base + kk < K ? B[(base + kk) * N + col0 + col] : 0.0f;
            float xh = wmma::__float_to_tf32(x), yh = wmma::__float_to_tf32(y);
            a[e] = xh, al[e] = wmma::__float_to_tf32(x - xh), b[e] = yh, bl[e] = wmma::__float_to_tf32(y - yh);
        }
        __syncwarp();
        wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fa, fal;
        wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fb, fbl;
        wmma::load_matrix_sync(fa, a, 8);
        wmma::load_matrix_sync(fal, al, 8);
        wmma::load_matrix_sync(fb, b, 16);
        wmma::load_matrix_sync(fbl, bl, 16);
        wmma::mma_sync(sum, fal, fb, sum);
        wmma::mma_sync(sum, fa, fbl, sum);
        wmma::mma_sync(sum, fa, fb, sum);
        __syncwarp();
    }
    wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
    __syncwarp();
    for (int e = threadIdx.x; e < 256; e += 32)
        if (row0 + e / 16 < M && col0 + e % 16 < N) C[(row0 + e / 16) * N + col0 + e % 16] = c[e];
}
