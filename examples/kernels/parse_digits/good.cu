// launch: grid=(ceil(N/64)) block=(256)
// One thread for each number: eight bytes in one load, and the digits of a word are put together in pairs.
__device__ __forceinline__ unsigned four_digits(unsigned word) {
    word &= 0x0f0f0f0fu;
    word = (word * 10 + (word >> 8)) & 0x00ff00ffu;  // two numbers below 100
    return (word * 100 + (word >> 16)) & 0xffffu;
}

extern "C" __global__ void parse_digits(const uint2* __restrict__ text, unsigned* __restrict__ numbers, int N) {
    int field = blockIdx.x * blockDim.x + threadIdx.x;
    if (field >= N * 4) return;
    uint2 word = text[field];
    numbers[field] = four_digits(word.x) * 1000 + four_digits(word.y << 8);
}
