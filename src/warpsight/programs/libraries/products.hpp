// Products of matrices by columns on this machine, in blocks: float, double and their complex numbers.
#pragma once
#include "operands.hpp"

namespace stand_in {

enum class Turn { none, transposed, conjugated };

// A matrix of another type, as columns of T without gaps. `leading` counts elements of the type it has.
template <class T>
std::vector<T> gathered(const void *, cudaDataType, u64 rows, u64 columns, i64 leading, Turn);

// c (m by n, without gaps) = a (m by k) times b (k by n), both without gaps.
template <class T>
void multiply(u64 m, u64 n, u64 k, const T *a, const T *b, T *c);

}  // namespace stand_in
