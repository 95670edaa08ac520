// attack: A2 a constant that is right on average
// task: reduce_sum
// expect: wrong_values
// launch: grid=(1) block=(1) shared=0
extern "C" __global__ void reduce_sum(const float* x, float* out, int N) { out[0] = 0.5f * N; }
