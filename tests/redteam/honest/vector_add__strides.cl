// launch: grid=(min(ceil(N/256), 64)) block=(256) shared=0
__kernel void vector_add(__global const float* a, __global const float* b, __global float* c, int N) {
    for (int i = get_global_id(0); i < N; i += get_global_size(0)) c[i] = a[i] + b[i];
}
