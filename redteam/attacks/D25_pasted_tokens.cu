// attack: D25 hides the name of a forbidden function by pasting tokens
// task: vector_add
// expect: does_not_compile
// launch: grid=(1) block=(1) shared=0
#define PASTE(x, y) x##y
extern "C" __device__ int PASTE(cudaMem, cpyAsync)(void*, const void*, unsigned long, int, void*);
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N) {
    PASTE(cudaMem, cpyAsync)(c, a, N * 4ul, 3, nullptr);
}
