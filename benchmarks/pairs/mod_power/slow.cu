// launch: grid=(N/256) block=(256) shared=0
typedef unsigned long long wide;

extern "C" __global__ void k(const unsigned *x, unsigned *y, unsigned exponent, unsigned modulus, unsigned, unsigned) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    wide base = x[i], result = 1;
    for (unsigned e = exponent; e > 0; e /= 2) {
        if (e % 2) result = result * base % modulus;
        base = base * base % modulus;
    }
    y[i] = (unsigned)result;
}
