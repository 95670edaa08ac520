// A stand-in for libnvidia-ml.so.1: which GPU there is, its clocks, who uses it. The GPU is the virtual one, always at
// its boost clock and used by nobody else. What it has no number for (temperature, power) is a function that is not
// there.
#include <cstdio>
#include <cstring>

#include "../driver/driver.hpp"

using stand_in::device;

namespace {
enum Answer { kSuccess = 0, kUninitialized = 1, kInvalid = 2, kNotSupported = 3, kNotFound = 6, kTooSmall = 7 };
struct Gpu;  // the one handle there is
Gpu *const kGpu = (Gpu *)1;
int users = 0;

int put(char *to, unsigned room, const char *text) {
    if (!to) return kInvalid;
    if (strlen(text) >= room) return kTooSmall;
    return strcpy(to, text), kSuccess;
}

std::string uuid_text() {
    CUuuid id;
    if (cuInit(0) || cuDeviceGetUuid(&id, 0)) return "";
    std::string made = "GPU-";
    char part[3];
    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) made += '-';
        snprintf(part, sizeof part, "%02x", (unsigned char)id.bytes[i]);
        made += part;
    }
    return made;
}

int clock_of(Gpu *gpu, int kind, unsigned *mhz) {
    if (gpu != kGpu || !mhz) return kInvalid;
    if (kind < 0 || kind > 2) return kNotSupported;
    return *mhz = (unsigned)((kind == 2 ? device().memory_clock_khz : device().clock_khz) / 1000), kSuccess;
}
}  // namespace

WS_API int nvmlInitWithFlags(unsigned) { return users++, kSuccess; }
WS_API int nvmlInit_v2() { return nvmlInitWithFlags(0); }
WS_API int nvmlInit() { return nvmlInitWithFlags(0); }
WS_API int nvmlShutdown() { return users ? (users--, kSuccess) : kUninitialized; }
WS_API const char *nvmlErrorString(int answer) {
    switch (answer) {
        case kSuccess: return "Success";
        case kUninitialized: return "Uninitialized";
        case kInvalid: return "Invalid Argument";
        case kNotSupported: return "Not Supported";
        case kNotFound: return "Not Found";
        case kTooSmall: return "Insufficient Size";
        default: return "Unknown Error";
    }
}
WS_API int nvmlSystemGetDriverVersion(char *text, unsigned room) {
    return put(text, room, "580.0 (Warpsight virtual GPU)");
}
WS_API int nvmlSystemGetNVMLVersion(char *text, unsigned room) { return put(text, room, "13.580.0"); }
WS_API int nvmlSystemGetCudaDriverVersion_v2(int *version) { return *version = 13040, kSuccess; }
WS_API int nvmlSystemGetCudaDriverVersion(int *version) { return *version = 13040, kSuccess; }
WS_API int nvmlDeviceGetCount_v2(unsigned *count) { return users ? (*count = 1, kSuccess) : kUninitialized; }
WS_API int nvmlDeviceGetHandleByIndex_v2(unsigned index, Gpu **gpu) {
    if (!users) return kUninitialized;
    return index ? kInvalid : (*gpu = kGpu, kSuccess);
}
WS_API int nvmlDeviceGetHandleByUUID(const char *uuid, Gpu **gpu) {
    if (!users) return kUninitialized;
    return uuid_text() == uuid ? (*gpu = kGpu, kSuccess) : kNotFound;
}
WS_API int nvmlDeviceGetIndex(Gpu *gpu, unsigned *index) { return gpu == kGpu ? (*index = 0, kSuccess) : kInvalid; }
WS_API int nvmlDeviceGetUUID(Gpu *gpu, char *text, unsigned room) {
    return gpu == kGpu ? put(text, room, uuid_text().c_str()) : kInvalid;
}
WS_API int nvmlDeviceGetName(Gpu *gpu, char *text, unsigned room) {
    return gpu == kGpu ? put(text, room, device().name.c_str()) : kInvalid;
}
WS_API int nvmlDeviceGetCudaComputeCapability(Gpu *gpu, int *major, int *minor) {
    if (gpu != kGpu) return kInvalid;
    return *major = (int)device().major, *minor = (int)device().minor, kSuccess;
}
WS_API int nvmlDeviceGetClock(Gpu *gpu, int kind, int, unsigned *mhz) { return clock_of(gpu, kind, mhz); }
WS_API int nvmlDeviceGetClockInfo(Gpu *gpu, int kind, unsigned *mhz) { return clock_of(gpu, kind, mhz); }
WS_API int nvmlDeviceGetMaxClockInfo(Gpu *gpu, int kind, unsigned *mhz) { return clock_of(gpu, kind, mhz); }
WS_API int nvmlDeviceGetCurrentClocksEventReasons(Gpu *gpu, unsigned long long *reasons) {
    return gpu == kGpu ? (*reasons = 0, kSuccess) : kInvalid;
}
WS_API int nvmlDeviceGetCurrentClocksThrottleReasons(Gpu *gpu, unsigned long long *reasons) {
    return nvmlDeviceGetCurrentClocksEventReasons(gpu, reasons);
}
WS_API int nvmlDeviceGetComputeRunningProcesses_v3(Gpu *gpu, unsigned *count, void *) {
    return gpu == kGpu ? (*count = 0, kSuccess) : kInvalid;
}
