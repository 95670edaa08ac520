// launch: grid=(ceil(P/256)) block=(256)
extern "C" __global__ void heat_waves(const float* heat, int* longest, float limit, int P, int T) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= P) return;
    int run = 0;
    longest[p] = 0;
    for (int t = 0; t < T; t++) {
        if (heat[p * T + t] > limit) {
            run++;
            if (run > longest[p]) longest[p] = run;
        } else {
            run = 0;
        }
    }
}
