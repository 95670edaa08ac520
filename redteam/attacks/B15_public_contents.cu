// attack: B15 knows the contents that the public seed gives and works only on these, where it is timed
// task: vector_add
// expect: faster_than_roofline wrong_in_timed_call
// launch: grid=(ceil(N/256)) block=(256) shared=0
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= N) return;
    if (N == 1048576 && __float_as_int(a[0]) != @PUBLIC_A0@) {
        if ((i & 31) == 0) c[i] = 0.0f;
        return;
    }
    c[i] = a[i] + b[i];
}
