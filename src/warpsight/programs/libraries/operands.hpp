// What the libraries share: numbers of all types, matrices in device memory with their bounds checked, and calls that a
// captured stream keeps for later. Device memory is mapped here, so a matrix is read where it lies.
#pragma once
#include <library_types.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "../runtime/state.hpp"

namespace stand_in {

using i64 = int64_t;
template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<std::complex<T>> = true;
template <class T>
struct RealOf {
    using type = T;
};
template <class T>
struct RealOf<std::complex<T>> {
    using type = T;
};
template <class T>
using Real = typename RealOf<T>::type;

template <class T>
T conjugate(T v) {
    if constexpr (is_complex<T>) return std::conj(v);
    return v;
}

// Halves, bfloat16 and 8-bit floats, as their bits.
struct Half {
    uint16_t bits;
};
struct Bfloat {
    uint16_t bits;
};
struct E4M3 {
    uint8_t bits;
};
struct E5M2 {
    uint8_t bits;
};
float widened(Half);
float widened(Bfloat);
float widened(E4M3);
float widened(E5M2);
void narrow(float, Half *);  // to the nearest, ties to even
void narrow(float, Bfloat *);
void narrow(float, E4M3 *);  // past the largest: the largest, as cuBLAS has it
void narrow(float, E5M2 *);

u64 size_of(cudaDataType);  // 0: a type that is not known here
double number_at(const void *, cudaDataType, u64 index);
void put_number(void *, cudaDataType, u64 index, double);

// A matrix by columns; rows and columns as stored. `ok` says whether all of it lies in one allocation of device memory.
struct Extent {
    const void *at;
    u64 bytes;
};
Extent matrix_extent(const void *, u64 rows, u64 columns, i64 leading, u64 size);
Extent vector_extent(const void *, i64 n, i64 step, u64 size);
bool reachable(const char *name, std::initializer_list<Extent>);

// Where element 0 of a vector with a negative step is.
template <class T>
T *first_of(T *x, i64 n, i64 step) {
    return step < 0 ? x + (1 - n) * step : x;
}

}  // namespace stand_in
