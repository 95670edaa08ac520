// launch: grid=(ceil(N/128)) block=(128) shared=0
extern "C" __global__ void collatz(const unsigned int* __restrict__ start, int* __restrict__ steps, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        unsigned long long n = start[i];
        int count = 0;
        while (n != 1) {
            if (n % 2 == 0) {
                n = n / 2;
            } else {
                n = 3 * n + 1;
            }
            ++count;
        }
        steps[i] = count;
    }
}
