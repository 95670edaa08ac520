// launch: grid=(R) block=(256) shared=0
#define THREADS 256

// The sum over the work-group, known to every work-item.
float group_sum(float value, __local float* partial) {
    int t = get_local_id(0);
    partial[t] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = THREADS / 2; step > 0; step /= 2) {
        if (t < step) {
            partial[t] += partial[t + step];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    float total = partial[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return total;
}

__kernel void layer_norm(__global const float* restrict x, __global const float* restrict gamma,
                         __global const float* restrict beta, __global float* restrict y, float eps, int C) {
    __local float partial[THREADS];
    __global const float* in = x + (size_t)get_group_id(0) * C;
    __global float* out = y + (size_t)get_group_id(0) * C;
    int t = get_local_id(0);

    float sum = 0.0f;
    for (int c = t; c < C; c += THREADS) {
        sum += in[c];
    }
    float mean = group_sum(sum, partial) / C;

    float squares = 0.0f;
    for (int c = t; c < C; c += THREADS) {
        float d = in[c] - mean;
        squares += d * d;
    }
    float scale = rsqrt(group_sum(squares, partial) / C + eps);

    for (int c = t; c < C; c += THREADS) {
        out[c] = (in[c] - mean) * scale * gamma[c] + beta[c];
    }
}
