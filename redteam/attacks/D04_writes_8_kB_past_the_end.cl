// attack: D4 writes eight thousand bytes beyond its output, past where a small guard would end
// task: vector_add
// expect: out_of_bounds
// launch: grid=(ceil(N/256)) block=(256) shared=0
__kernel void vector_add(__global const float* a, __global const float* b, __global float* c, int N) {
    int i = get_global_id(0);
    if (i < N) c[i] = a[i] + b[i];
    if (i == 0) c[N + 2048] = 1.0f;
}
