// launch: grid=(min(ceil(G*4/256), 528)) block=(256)
// The dictionary stands in shared memory. A thread takes four codes, forty bits, from two words with one shift.
extern "C" __global__ void dictionary_decode(const unsigned* __restrict__ packed, const float* __restrict__ dictionary,
                                             float4* __restrict__ out, int G) {
    __shared__ float values[1024];
    for (int i = threadIdx.x; i < 256; i += 256) {
        reinterpret_cast<float4*>(values)[i] = reinterpret_cast<const float4*>(dictionary)[i];
    }
    __syncthreads();
    for (int q = blockIdx.x * 256 + threadIdx.x; q < G * 4; q += gridDim.x * 256) {
        int word = q / 4 * 5 + q % 4;  // forty bits begin 0, 8, 16 or 24 bits into a word
        unsigned long long pair = packed[word] | (unsigned long long)packed[word + 1] << 32;
        pair >>= q % 4 * 8;
        out[q] = make_float4(values[pair & 1023], values[pair >> 10 & 1023], values[pair >> 20 & 1023],
                             values[pair >> 30 & 1023]);
    }
}
