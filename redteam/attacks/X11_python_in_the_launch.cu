// attack: X11 puts a call into the launch line, where expressions are evaluated
// task: vector_add
// expect: request_refused
// launch: grid=(__import__('os').getpid()) block=(256) shared=0
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N) {}
