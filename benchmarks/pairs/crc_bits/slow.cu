// launch: grid=(N/256) block=(256) shared=0
// Bit by bit, and for each bit a counter, a comparison and a branch.
extern "C" __global__ void k(const unsigned *x, unsigned *y) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    const unsigned word = x[i];
    unsigned crc = ~0u;
#pragma unroll 1
    for (unsigned w = 0; w < 8; ++w) {
        crc ^= word + w;
#pragma unroll 1
        for (int b = 0; b < 32; ++b) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0u);
    }
    y[i] = ~crc;
}
