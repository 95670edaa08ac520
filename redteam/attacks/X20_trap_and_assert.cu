// attack: X20 ends itself before anybody looks
// task: vector_add
// expect: trap assert_failed output_not_written
// launch: grid=(ceil(N/256)) block=(256) shared=0
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N) { __trap(); }
