// launch: grid=(ceil(N/256)) block=(256)
extern "C" __global__ void adam_step(float* p, float* m, float* v, const float* g, float rate, int step, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        m[i] = 0.9 * m[i] + (1 - 0.9) * g[i];
        v[i] = 0.999 * v[i] + (1 - 0.999) * g[i] * g[i];
        double mean = m[i] / (1 - pow(0.9, step));
        double var = v[i] / (1 - pow(0.999, step));
        p[i] -= rate * mean / (sqrt(var) + 1e-8);
    }
}
