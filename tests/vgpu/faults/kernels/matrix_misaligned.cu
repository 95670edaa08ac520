extern "C" __global__ void k(unsigned *y) {
    __shared__ __align__(16) unsigned short s[1024];
    for (int i = threadIdx.x; i < 1024; i += 32) s[i] = i;
    __syncthreads();
    unsigned r, p = (unsigned)__cvta_generic_to_shared(&s[threadIdx.x * 12]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r) : "r"(p)); // FAULT: misaligned
    y[threadIdx.x] = r;
}
