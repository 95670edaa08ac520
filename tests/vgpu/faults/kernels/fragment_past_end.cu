// The leading dimension is that of a larger matrix.
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void k(const half *a, float *c) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    wmma::load_matrix_sync(fb, a, 16);
    wmma::load_matrix_sync(fa, a, 32); // FAULT: out_of_bounds
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}
