// attack: X12 puts a number without end into the launch line
// task: vector_add
// expect: request_refused refused
// launch: grid=(9**9**9**9) block=(256) shared=0
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N) {}
