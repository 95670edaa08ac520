// Arrays: device memory in rows, with the form of their elements.
#pragma once
#include "state.hpp"

namespace stand_in {

struct Array {
    cudaChannelFormatDesc form;
    cudaExtent extent;  // in elements, as asked for: 0 for what it does not have
    unsigned flags;
    u64 at, pitch, element;

    u64 rows() const { return extent.height ? extent.height : 1; }
    u64 planes() const { return extent.depth ? extent.depth : 1; }
};

Array *array_of(cudaArray_const_t);
u64 element_bytes(const cudaChannelFormatDesc &);

}  // namespace stand_in
