// launch: grid=(R) block=(256) shared=0
#define THREADS 256

__kernel void scan(__global const float* restrict x, __global float* restrict y, int C) {
    __local float sums[2][THREADS];
    __global const float* in = x + (size_t)get_group_id(0) * C;
    __global float* out = y + (size_t)get_group_id(0) * C;
    int t = get_local_id(0);
    float carry = 0.0f;
    for (int base = 0; base < C; base += THREADS) {
        int c = base + t;
        int now = 0;
        sums[now][t] = c < C ? in[c] : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int step = 1; step < THREADS; step *= 2) {
            sums[1 - now][t] = sums[now][t] + (t >= step ? sums[now][t - step] : 0.0f);
            now = 1 - now;
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        if (c < C) {
            out[c] = carry + sums[now][t];
        }
        carry += sums[now][THREADS - 1];
        barrier(CLK_LOCAL_MEM_FENCE);  // the sums of this chunk have been read
    }
}
