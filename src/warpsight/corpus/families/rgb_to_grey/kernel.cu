// launch: grid=(ceil(N/(256*4))) block=(256) shared=0
__device__ __forceinline__ unsigned grey_of(unsigned r, unsigned g, unsigned b) {
    unsigned sum = 77 * r + 150 * g + 29 * b;
    return sum >> 8;
}

extern "C" __global__ void rgb_to_grey(const unsigned char* __restrict__ rgb, unsigned char* __restrict__ grey, int N, int total) {
    int start = blockIdx.x * blockDim.x + threadIdx.x;
    int step = gridDim.x * blockDim.x;
    for (int i = start; i < N / 4; i += step) {
        const unsigned* in = reinterpret_cast<const unsigned*>(rgb) + 3 * (size_t)i;
        unsigned a = in[0];
        unsigned b = in[1];
        unsigned c = in[2];
        unsigned one = grey_of(a & 255, a >> 8 & 255, a >> 16 & 255);
        unsigned two = grey_of(a >> 24, b & 255, b >> 8 & 255);
        unsigned three = grey_of(b >> 16 & 255, b >> 24, c & 255);
        unsigned four = grey_of(c >> 8 & 255, c >> 16 & 255, c >> 24);
        reinterpret_cast<unsigned*>(grey)[i] = one | two << 8 | three << 16 | four << 24;
    }
}
