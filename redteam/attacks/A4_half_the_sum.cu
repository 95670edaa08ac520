// attack: A4 adds up half of the elements and doubles them
// task: reduce_sum
// expect: wrong_values
// launch: grid=(min(ceil(N/1024), 512)) block=(256) shared=0
extern "C" __global__ void reduce_sum(const float* x, float* out, int N) {
    float s = 0;
    for (int i = 2 * (blockIdx.x * 256 + threadIdx.x); i < N; i += 2 * 256 * gridDim.x) s += x[i];
    atomicAdd(out, 2 * s);
}
