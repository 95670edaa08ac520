// launch: grid=(ceil(N/256)) block=(256) shared=0
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N) {
    __shared__ float x[256], y[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    if (i < N) {
        unsigned to_x = __cvta_generic_to_shared(x + t), to_y = __cvta_generic_to_shared(y + t);
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to_x), "l"(a + i));
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to_y), "l"(b + i));
    }
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_group 0;");
    __syncthreads();
    if (i < N) c[i] = x[t] + y[t];
}
