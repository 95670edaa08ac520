// What the parts of the stand-in driver (libcuda.so.1) share. It sits on the stand-in runtime beside it, as NVIDIA's
// runtime sits on their driver the other way round: one channel, one device memory, one clock for programs that use
// both. Contexts are names without a state of their own: there is one GPU, and all of them see the same memory.
#pragma once
#include <cuda.h>

#include "../runtime/state.hpp"

namespace driver {

using stand_in::device;
using stand_in::Kernel;
using stand_in::Kind;
using stand_in::lock;
using stand_in::Module;
using stand_in::say;
using stand_in::u32;
using stand_in::u64;

CUresult result(cudaError_t);        // the driver's name for an error of the runtime
CUresult missing(const char *name, const char *why = "");  // says the name, and answers CUDA_ERROR_NOT_SUPPORTED
bool gpu_is_visible();               // CUDA_VISIBLE_DEVICES may hide it
CUuuid uuid();                       // made of the GPU's name, so always the same
bool started();                      // whether cuInit was called
void *symbol(const char *name, int version);
Kernel *kernel_of(CUfunction);

}  // namespace driver

#define WS_STARTED \
    if (!driver::started()) return CUDA_ERROR_NOT_INITIALIZED
#define WS_OUT(pointer) \
    if (!(pointer)) return CUDA_ERROR_INVALID_VALUE
