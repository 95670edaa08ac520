// launch: grid=(ceil(R/128)) block=(128)
extern "C" __global__ void crc_rows(const unsigned char* data, unsigned int* crc, int R, int C) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= R) return;
    unsigned int c = 0xffffffff;
    for (int i = 0; i < C; i++) {
        c ^= data[r * C + i];
        for (int bit = 0; bit < 8; bit++) {
            if (c & 1) {
                c = (c >> 1) ^ 0xedb88320;
            } else {
                c >>= 1;
            }
        }
    }
    crc[r] = ~c;
}
