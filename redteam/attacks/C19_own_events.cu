// attack: C19 makes an event that does not time
// task: vector_add
// expect: does_not_compile
// launch: grid=(1) block=(1) shared=0
#include <cuda_runtime.h>
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N) {
    cudaEvent_t event;
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    cudaEventElapsedTime(nullptr, event, event);
}
