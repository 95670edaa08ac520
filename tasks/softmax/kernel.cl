// launch: grid=(R) block=(256) shared=0
#define THREADS 256

__kernel void softmax(__global const float* restrict x, __global float* restrict y, int C) {
    __local float scratch[THREADS];
    __global const float* in = x + (size_t)get_group_id(0) * C;
    __global float* out = y + (size_t)get_group_id(0) * C;
    int t = get_local_id(0);

    float greatest = -INFINITY;
    for (int c = t; c < C; c += THREADS) {
        greatest = fmax(greatest, in[c]);
    }
    scratch[t] = greatest;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = THREADS / 2; step > 0; step /= 2) {
        if (t < step) {
            scratch[t] = fmax(scratch[t], scratch[t + step]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    greatest = scratch[0];
    barrier(CLK_LOCAL_MEM_FENCE);  // everyone has read it before scratch is used again

    float sum = 0.0f;
    for (int c = t; c < C; c += THREADS) {
        sum += exp(in[c] - greatest);
    }
    scratch[t] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = THREADS / 2; step > 0; step /= 2) {
        if (t < step) {
            scratch[t] += scratch[t + step];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    sum = scratch[0];

    for (int c = t; c < C; c += THREADS) {
        out[c] = exp(in[c] - greatest) / sum;
    }
}
