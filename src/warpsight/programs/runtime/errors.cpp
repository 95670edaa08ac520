// Errors: the last one of a thread, the one that stays after a fault, and their names and texts.
#include <cstring>

#include "state.hpp"

namespace stand_in {

cudaError_t sticky = cudaSuccess;
namespace {
thread_local cudaError_t last = cudaSuccess;
const struct {
    int code;
    const char *name, *text;
} kErrors[] = {
    {0, "cudaSuccess", "no error"},
    {1, "cudaErrorInvalidValue", "invalid argument"},
    {2, "cudaErrorMemoryAllocation", "out of memory"},
    {3, "cudaErrorInitializationError", "initialization error"},
    {9, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {12, "cudaErrorInvalidPitchValue", "invalid pitch argument"},
    {13, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {21, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
    {52, "cudaErrorMissingConfiguration", "__global__ function call is not configured"},
    {98, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {100, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {101, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {200, "cudaErrorInvalidKernelImage", "device kernel image is invalid"},
    {209, "cudaErrorNoKernelImageForDevice", "no kernel image is available for execution on the device"},
    {216, "cudaErrorDeviceAlreadyInUse", "exclusive-thread device already in use by a different thread"},
    {217, "cudaErrorPeerAccessUnsupported", "peer access is not supported between these two devices"},
    {400, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {401, "cudaErrorIllegalState", "the operation cannot be performed in the present state"},
    {500, "cudaErrorSymbolNotFound", "named symbol not found"},
    {600, "cudaErrorNotReady", "device not ready"},
    {700, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {701, "cudaErrorLaunchOutOfResources", "too many resources requested for launch"},
    {702, "cudaErrorLaunchTimeout", "the launch timed out and was terminated"},
    {704, "cudaErrorPeerAccessAlreadyEnabled", "peer access is already enabled"},
    {705, "cudaErrorPeerAccessNotEnabled", "peer access has not been enabled"},
    {710, "cudaErrorAssert", "device-side assert triggered"},
    {712, "cudaErrorHostMemoryAlreadyRegistered", "part or all of the requested memory range is already mapped"},
    {713, "cudaErrorHostMemoryNotRegistered", "pointer does not correspond to a registered memory region"},
    {714, "cudaErrorHardwareStackError", "hardware stack error"},
    {716, "cudaErrorMisalignedAddress", "misaligned address"},
    {718, "cudaErrorInvalidPc", "invalid program counter"},
    {719, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {720, "cudaErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch"},
    {801, "cudaErrorNotSupported", "operation not supported"},
    {900, "cudaErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing"},
    {999, "cudaErrorUnknown", "unknown error"},
};
}  // namespace

cudaError_t fail(cudaError_t error) {
    if (error != cudaSuccess) last = error;
    return error;
}

cudaError_t not_provided(const char *name, const char *why) {
    WS_LOCKED;
    say("%s is not provided by the virtual GPU%s%s", name, *why ? ": " : "", why);
    device();
    Message(Op::missing).add(std::string(name)).post();
    return fail(cudaErrorNotSupported);
}

}  // namespace stand_in

using namespace stand_in;

WS_API cudaError_t cudaGetLastError() {
    if (sticky != cudaSuccess) return sticky;
    const cudaError_t found = last;
    last = cudaSuccess;
    return found;
}
WS_API cudaError_t cudaPeekAtLastError() { return sticky != cudaSuccess ? sticky : last; }
WS_API const char *cudaGetErrorString(cudaError_t error) {
    for (const auto &e : kErrors)
        if (e.code == (int)error) return e.text;
    return "unrecognized error code";
}
WS_API const char *cudaGetErrorName(cudaError_t error) {
    for (const auto &e : kErrors)
        if (e.code == (int)error) return e.name;
    return "unrecognized error code";
}

namespace stand_in {
enum Error : int;
Error missing(const char *name);
Error missing(const char *name) { return (Error)not_provided(name); }
}  // namespace stand_in
