// attack: D19 zeroes the inputs, so that the reference would be wrong as well
// task: vector_add
// expect: write_to_const
// launch: grid=(ceil(N/256)) block=(256) shared=0
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= N) return;
    c[i] = 0.0f;
    const_cast<float*>(a)[i] = 0.0f;
    const_cast<float*>(b)[i] = 0.0f;
}
