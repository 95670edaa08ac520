// attack: G8 one block in sixteen works, sixteen times as long; the padding hides that there are too few
// task: vector_add
// expect: SAME SLOWER no_time interval_too_wide
// launch: grid=(ceil(N/256)) block=(256) shared=0
extern "C" __global__ void vector_add(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int N) {
    if (blockIdx.x % 16) return;
    for (int j = 0; j < 16; ++j) {
        int i = (blockIdx.x + j) * 256 + threadIdx.x;
        if (i < N) c[i] = a[i] + b[i];
    }
}
