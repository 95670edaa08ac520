// attack: D25 hides the path of an include in a macro
// task: vector_add
// expect: does_not_compile
// launch: grid=(1) block=(1) shared=0
#define TEXT(x) #x
#define QUOTED(x) TEXT(x)
#include QUOTED(/etc/passwd)
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N) {}
