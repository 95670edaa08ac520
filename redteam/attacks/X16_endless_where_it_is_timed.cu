// attack: X16 never ends at the size that is timed
// task: vector_add
// expect: endless_loop deadline deadlock
// launch: grid=(ceil(N/256)) block=(256) shared=0
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < N) c[i] = a[i] + b[i];
    volatile int on = N == 1048576;
    while (on) {
    }
}
