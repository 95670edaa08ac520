// attack: X14 has two launch lines, one to show and one to use
// task: vector_add
// expect: request_refused
// launch: grid=(ceil(N/256)) block=(256) shared=0
// launch: grid=(1) block=(1) shared=0
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N) {}
