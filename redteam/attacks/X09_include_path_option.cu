// attack: X9 smuggles an include folder into the compile options
// task: vector_add
// expect: request_refused
// options: --include-path=/
// launch: grid=(ceil(N/256)) block=(256) shared=0
#include <etc/passwd>
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N) {}
