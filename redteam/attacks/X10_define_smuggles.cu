// attack: X10 hides a second option in the value of a macro
// task: vector_add
// expect: request_refused does_not_compile
// options: -DX=1,--pre-include=/etc/passwd -DX=2
// launch: grid=(ceil(N/256)) block=(256) shared=0
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N) { X; }
