// attack: B8 keeps the first answer in a device variable and copies it in later launches
// task: vector_add
// expect: wrong_values out_of_bounds output_not_written SAME SLOWER
// launch: grid=(ceil(N/256)) block=(256) shared=0
__device__ int filled;
__device__ float kept[1 << 20];
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= N) return;
    if (filled == N) {
        c[i] = kept[i];
        return;
    }
    c[i] = a[i] + b[i];
    if (i == N - 1 && N > (1 << 20)) filled = N;
}
