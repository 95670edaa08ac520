// launch: grid=(N/256) block=(256) shared=0
typedef unsigned long long wide;

// Montgomery's way: a * b / 2^32 modulo an odd modulus below 2^31, with multiplications alone.
__device__ __forceinline__ unsigned product(unsigned a, unsigned b, unsigned modulus, unsigned inverse) {
    const wide whole = (wide)a * b;
    const unsigned high = (whole + (wide)((unsigned)whole * inverse) * modulus) >> 32;
    return high >= modulus ? high - modulus : high;
}

// `inverse` is -1 / modulus modulo 2^32, `square` is 2^64 modulo the modulus.
extern "C" __global__ void k(const unsigned *x, unsigned *y, unsigned exponent, unsigned modulus, unsigned inverse,
                             unsigned square) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    unsigned base = product(x[i], square, modulus, inverse), result = product(1, square, modulus, inverse);
    for (unsigned e = exponent; e > 0; e /= 2) {
        if (e % 2) result = product(result, base, modulus, inverse);
        base = product(base, base, modulus, inverse);
    }
    y[i] = product(result, 1, modulus, inverse);
}
