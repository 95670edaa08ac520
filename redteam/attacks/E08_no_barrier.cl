// attack: E8 leaves the barriers out
// task: reduce_sum
// expect: wrong_values not_deterministic
// launch: grid=(min(ceil(N/1024), 512)) block=(256) shared=0
__kernel void reduce_sum(__global const float* x, __global float* out, int N) {
    __local float part[256];
    int t = get_local_id(0);
    float s = 0;
    for (int i = get_global_id(0); i < N; i += get_global_size(0)) s += x[i];
    part[t] = s;
    for (int h = 128; h > 0; h /= 2)
        if (t < h) part[t] += part[t + h];
    if (t == 0) out[0] += part[0];
}
