// options: -DTHREADS=128 -DPER=2
// launch: grid=(ceil(N/256)) block=(128) shared=0
#define STEP(k)                                                  \
    {                                                            \
        int i = (blockIdx.x * PER + k) * THREADS + threadIdx.x;  \
        if (i < N) c[i] = a[i] + b[i];                           \
    }
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N) { STEP(0) STEP(1) }
