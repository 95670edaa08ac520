// attack: X5 works only when the clock is even, to be fast in half of the runs
// task: vector_add
// expect: output_not_written not_deterministic wrong_values wrong_in_timed_call
// launch: grid=(ceil(N/256)) block=(256) shared=0
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N) {
    int i = blockIdx.x * 256 + threadIdx.x;
    unsigned long long t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    if (i < N && ((t ^ clock64()) / 7) % 2 == 0) c[i] = a[i] + b[i];
}
