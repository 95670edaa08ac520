// launch: grid=(ceil(G*16/256)) block=(256)
extern "C" __global__ void dictionary_decode(const unsigned int* packed, const float* dictionary, float* out, int G) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= G * 16) return;
    int code = 0;
    for (int b = 0; b < 10; b++) {
        int bit = i * 10 + b;
        if ((packed[bit / 32] >> (bit % 32)) & 1) {
            code |= 1 << b;
        }
    }
    out[i] = dictionary[code];
}
