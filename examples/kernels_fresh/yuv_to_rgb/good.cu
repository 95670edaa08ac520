// launch: grid=(ceil(W/4/64), H/2) block=(64)
// Four pixels of two rows for each thread: words in, three words out for each row.
__device__ unsigned bytes(int a, int b, int c, int d) {
    a = min(max(a, 0), 255), b = min(max(b, 0), 255), c = min(max(c, 0), 255), d = min(max(d, 0), 255);
    return a | b << 8 | c << 16 | d << 24;
}

extern "C" __global__ void yuv_to_rgb(const unsigned char* __restrict__ luma, const unsigned char* __restrict__ u,
                                      const unsigned char* __restrict__ v, unsigned char* __restrict__ rgb, int H,
                                      int W) {
    int words = W / 4, x = blockIdx.x * 64 + threadIdx.x, half = blockIdx.y;
    if (x >= words) return;
    uchar2 us = reinterpret_cast<const uchar2*>(u)[(size_t)half * words + x];
    uchar2 vs = reinterpret_cast<const uchar2*>(v)[(size_t)half * words + x];
    int d[2] = {us.x - 128, us.y - 128}, e[2] = {vs.x - 128, vs.y - 128};
#pragma unroll
    for (int row = 0; row < 2; ++row) {
        size_t at = (size_t)(half * 2 + row) * words + x;
        uchar4 four = reinterpret_cast<const uchar4*>(luma)[at];
        int ys[4] = {four.x, four.y, four.z, four.w}, r[4], g[4], b[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            int y = 298 * (ys[i] - 16) + 128;
            r[i] = (y + 409 * e[i / 2]) >> 8;
            g[i] = (y - 100 * d[i / 2] - 208 * e[i / 2]) >> 8;
            b[i] = (y + 516 * d[i / 2]) >> 8;
        }
        unsigned* out = reinterpret_cast<unsigned*>(rgb) + at * 3;
        out[0] = bytes(r[0], g[0], b[0], r[1]);
        out[1] = bytes(g[1], b[1], r[2], g[2]);
        out[2] = bytes(b[2], r[3], g[3], b[3]);
    }
}
