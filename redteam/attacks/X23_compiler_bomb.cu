// attack: X23 keeps the compiler busy for ever
// task: vector_add
// expect: does_not_compile compiler_stopped
// launch: grid=(ceil(N/256)) block=(256) shared=0
template <int N> struct F { static constexpr long v = F<N - 1>::v + F<N - 2>::v; };
template <long A, long B> struct G { static constexpr long v = G<A - 1, B>::v + G<A, B - 1>::v + G<A - 1, B - 1>::v; };
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N) { c[0] = G<100000, 100000>::v; }
