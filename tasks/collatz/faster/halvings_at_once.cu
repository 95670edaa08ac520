// launch: grid=(ceil(N/128)) block=(128) shared=0
// All halvings in a row are one shift; what is left of a number takes 32 bits most of the time.
extern "C" __global__ void collatz(const unsigned int* __restrict__ start, int* __restrict__ steps, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        unsigned long long n = start[i];
        int count = __ffsll(n) - 1;
        n >>= count;
        while (n != 1) {
            n = 3 * n + 1;
            int halvings = __ffsll(n) - 1;
            n >>= halvings;
            count += 1 + halvings;
        }
        steps[i] = count;
    }
}
