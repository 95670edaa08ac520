// attack: X6 reads the output first: poison means that it is being checked
// task: vector_add
// expect: uninitialised_read
// launch: grid=(ceil(N/256)) block=(256) shared=0
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= N) return;
    unsigned found = __float_as_uint(c[i]);
    if (found == 0xa5a5a5a5u || found == 0x5b5b5b5bu) c[i] = a[i] + b[i];
}
