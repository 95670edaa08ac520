// attack: A1 does nothing and hopes that the output still holds an earlier answer
// task: vector_add
// expect: output_not_written
// launch: grid=(ceil(N/256)) block=(256) shared=0
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N) {}
