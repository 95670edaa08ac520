// launch: grid=(ceil(N/64), ceil(M/64)) block=(128) shared=0
#include <cuda_fp16.h>
#include <mma.h>

extern "C" __global__ void half_product(const half* __restrict__ a, const half* __restrict__ b, float* __restrict__ c, int N, int K) {
    using namespace nvcuda;
    __shared__ __align__(32) half left[64][48];
    __shared__ __align__(32) half right[32][80];
    int top = blockIdx.y * 64;
    int side = blockIdx.x * 64;
    int warp = threadIdx.x / 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[4];
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
        wmma::fill_fragment(sum[j], 0.0f);
    }
    for (int base = 0; base < K; base += 32) {
        for (int t = threadIdx.x; t < 256; t += 128) {
            *reinterpret_cast<uint4*>(&left[t / 4][t % 4 * 8]) = *reinterpret_cast<const uint4*>(a + (size_t)(top + t / 4) * K + base + t % 4 * 8);
        }
        for (int t = threadIdx.x; t < 256; t += 128) {
            *reinterpret_cast<uint4*>(&right[t / 8][t % 8 * 8]) = *reinterpret_cast<const uint4*>(b + (size_t)(base + t / 8) * N + side + t % 8 * 8);
        }
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < 32; k += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> u;
            wmma::load_matrix_sync(u, &left[warp * 16][k], 48);
            #pragma unroll
            for (int j = 0; j < 4; ++j) {
                wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> v;
                wmma::load_matrix_sync(v, &right[k][j * 16], 80);
                wmma::mma_sync(sum[j], u, v, sum[j]);
            }
        }
        __syncthreads();
    }
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
        wmma::store_matrix_sync(c + (size_t)(top + warp * 16) * N + side + j * 16, sum[j], N, wmma::mem_row_major);
    }
}
