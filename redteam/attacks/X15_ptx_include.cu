// attack: X15 includes a file from inline assembly
// task: vector_add
// expect: does_not_compile
// launch: grid=(ceil(N/256)) block=(256) shared=0
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N) {
    asm volatile(".include \"/etc/passwd\"");
}
