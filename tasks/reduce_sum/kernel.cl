// launch: grid=(min(ceil(N/1024), 512)) block=(256) shared=0
#define THREADS 256

// OpenCL C has no atomic add of floats: swap in the sum until nobody else was faster.
void add_to(volatile __global float* out, float value) {
    volatile __global int* bits = (volatile __global int*)out;
    int before = *bits;
    while (true) {
        int found = atomic_cmpxchg(bits, before, as_int(as_float(before) + value));
        if (found == before) {
            return;
        }
        before = found;
    }
}

__kernel void reduce_sum(__global const float* restrict x, __global float* out, int N) {
    __local float partial[THREADS];
    int t = get_local_id(0);
    float sum = 0.0f;
    for (int i = get_global_id(0); i < N; i += get_global_size(0)) {
        sum += x[i];
    }
    partial[t] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int half_count = THREADS / 2; half_count > 0; half_count /= 2) {
        if (t < half_count) {
            partial[t] += partial[t + half_count];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (t == 0) {
        add_to(out, partial[0]);
    }
}
