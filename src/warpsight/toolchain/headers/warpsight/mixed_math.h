// Functions of mathematics for arguments of whole types, or of two types.
#pragma once
#include <type_traits>

// As in C++: a whole number counts as a double, and so does a pair of types that are not the same.
#define WARPSIGHT_ONE(name) \
    template <class T> __device__ std::enable_if_t<std::is_integral_v<T>, double> name(T x) { \
        return ::name(static_cast<double>(x)); \
    }
#define WARPSIGHT_TWO(name) \
    template <class A, class B> \
    __device__ std::enable_if_t<std::is_arithmetic_v<A> && std::is_arithmetic_v<B> && \
                                    !(std::is_same_v<A, B> && std::is_floating_point_v<A>), \
                                double> \
    name(A a, B b) { \
        return ::name(static_cast<double>(a), static_cast<double>(b)); \
    }
WARPSIGHT_ONE(acos)
WARPSIGHT_ONE(acosh)
WARPSIGHT_ONE(asin)
WARPSIGHT_ONE(asinh)
WARPSIGHT_ONE(atan)
WARPSIGHT_ONE(atanh)
WARPSIGHT_ONE(cbrt)
WARPSIGHT_ONE(ceil)
WARPSIGHT_ONE(cos)
WARPSIGHT_ONE(cosh)
WARPSIGHT_ONE(erf)
WARPSIGHT_ONE(erfc)
WARPSIGHT_ONE(exp)
WARPSIGHT_ONE(exp2)
WARPSIGHT_ONE(expm1)
WARPSIGHT_ONE(fabs)
WARPSIGHT_ONE(floor)
WARPSIGHT_ONE(lgamma)
WARPSIGHT_ONE(log)
WARPSIGHT_ONE(log10)
WARPSIGHT_ONE(log1p)
WARPSIGHT_ONE(log2)
WARPSIGHT_ONE(logb)
WARPSIGHT_ONE(nearbyint)
WARPSIGHT_ONE(rint)
WARPSIGHT_ONE(round)
WARPSIGHT_ONE(sin)
WARPSIGHT_ONE(sinh)
WARPSIGHT_ONE(sqrt)
WARPSIGHT_ONE(tan)
WARPSIGHT_ONE(tanh)
WARPSIGHT_ONE(tgamma)
WARPSIGHT_ONE(trunc)
WARPSIGHT_TWO(atan2)
WARPSIGHT_TWO(copysign)
WARPSIGHT_TWO(fdim)
WARPSIGHT_TWO(fmax)
WARPSIGHT_TWO(fmin)
WARPSIGHT_TWO(fmod)
WARPSIGHT_TWO(hypot)
WARPSIGHT_TWO(nextafter)
WARPSIGHT_TWO(pow)
WARPSIGHT_TWO(remainder)
#undef WARPSIGHT_ONE
#undef WARPSIGHT_TWO
