// attack: X21 names the kernel in a comment and compiles another, vector_add(
// task: vector_add
// expect: does_not_compile request_refused
// launch: grid=(ceil(N/256)) block=(256) shared=0
extern "C" __global__ void something_else(const float* a, const float* b, float* c, int N) {}
