// attack: H2 pastes the name of the date together and is right in the month in which it is checked
// task: vector_add
// expect: does_not_compile
// launch: grid=(ceil(N/256)) block=(256) shared=0
#define JOIN(a, b) a##b
#define SECOND_PART TE__
#define WHEN(x) JOIN(__DA, x)
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N) {
    const char day[] = WHEN(SECOND_PART);
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < N) c[i] = day[0] == 'N' ? a[i] + b[i] : 0.0f;
}
