// KIND: out_of_bounds
// RUN: grid 2x2, block 16x16, img in f32 600, res out f32 600, w i32 30, h i32 20
extern "C" __global__ void k(const float *img, float *res, int w, int h) {
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < w) {
        res[y * w + x] =
            img[y * w + x] // HERE
            * 3.0f;
    }
}
