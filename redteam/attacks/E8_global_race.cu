// attack: E8 adds to one place without an atomic operation
// task: reduce_sum
// expect: global_race
// launch: grid=(ceil(N/256)) block=(256) shared=0
extern "C" __global__ void reduce_sum(const float* x, float* out, int N) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < N) *out += x[i];
}
