// attack: X30 prints without end
// task: vector_add
// expect: too_much_output
// launch: grid=(ceil(N/256)) block=(256) shared=0
__kernel void vector_add(__global const float* a, __global const float* b, __global float* c, int N) {
    int i = get_global_id(0);
    for (int k = 0; k < 10000; ++k) printf("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n");
    if (i < N) c[i] = 0.0f;
}
