// A program that uses NVIDIA's driver alone: PTX and machine code, memory, fills, streams, events, attributes, errors.
#include <cuda.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

static const char *name(CUresult e) {
    const char *text = nullptr;
    return cuGetErrorName(e, &text) ? "?" : text;
}
#define MUST(call)                                                           \
    do {                                                                     \
        if (CUresult e = call) return printf("%s: %s\n", #call, name(e)), 1; \
    } while (0)

static std::string read(const char *path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

static int before_the_start() {
    int count = 0;
    printf("before cuInit: %s\n", name(cuDeviceGetCount(&count)));
    MUST(cuInit(0));
    MUST(cuDeviceGetCount(&count));
    CUdevice device;
    CUcontext context, current = nullptr;
    MUST(cuDeviceGet(&device, 0));
    printf("second GPU: %s\n", name(cuDeviceGet(&device, 1)));
    printf("no context: %s\n", name(cuCtxGetDevice(&device)));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxPushCurrent(context));
    MUST(cuCtxGetCurrent(&current));
    int major = 0, warp = 0;
    MUST(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
    MUST(cuDeviceGetAttribute(&warp, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
    printf("count=%d same=%d major=%d warp=%d\n", count, current == context, major, warp);
    return 0;
}

// y[i] = a * x[i] + table[i % 4], and every thread adds one to `seen`.
static int run(const char *what, const std::string &image) {
    CUmodule module;
    CUfunction kernel;
    CUdeviceptr x, y, seen, table;
    size_t seen_bytes = 0, offset = 0, size = 0;
    MUST(cuModuleLoadData(&module, image.c_str()));
    MUST(cuModuleGetFunction(&kernel, module, "scale"));
    printf("%s: no such kernel: %s\n", what, name(cuModuleGetFunction(&kernel, module, "nothing")));
    MUST(cuModuleGetFunction(&kernel, module, "scale"));
    MUST(cuModuleGetGlobal(&seen, &seen_bytes, module, "seen"));
    MUST(cuModuleGetGlobal(&table, nullptr, module, "table"));
    MUST(cuFuncGetParamInfo(kernel, 3, &offset, &size));
    const int n = 1000;
    std::vector<float> in(n), out(n, -1.0f);
    for (int i = 0; i < n; i++) in[i] = (float)i;
    MUST(cuMemAlloc(&x, n * 4));
    MUST(cuMemAllocAsync(&y, n * 4, nullptr));
    MUST(cuMemcpyHtoD(x, in.data(), n * 4));
    MUST(cuMemsetD32(y, 0x3f800000, n));
    const float other[4] = {1, 2, 3, 5};
    MUST(cuMemcpyHtoD(table, other, 16));
    float a = 2.0f;
    int count = n - 8;
    void *arguments[] = {&x, &y, &a, &count};
    CUstream stream;
    CUevent start, end;
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&start, CU_EVENT_DEFAULT));
    MUST(cuEventCreate(&end, CU_EVENT_DEFAULT));
    MUST(cuEventRecord(start, stream));
    MUST(cuLaunchKernel(kernel, 8, 1, 1, 128, 1, 1, 0, stream, arguments, nullptr));
    struct {
        CUdeviceptr x, y;
        float a;
        int n;
    } packed = {x, y, a, count};
    size_t bytes = sizeof packed;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
    MUST(cuLaunchKernel(kernel, 8, 1, 1, 128, 1, 1, 0, stream, nullptr, extra));
    MUST(cuEventRecord(end, stream));
    MUST(cuStreamSynchronize(stream));
    float ms = -1;
    MUST(cuEventElapsedTime(&ms, start, end));
    MUST(cuMemcpyDtoH(out.data(), y, n * 4));
    int bad = 0, threads = 0;
    for (int i = 0; i < n; i++) bad += out[i] != (i < count ? 2 * in[i] + other[i % 4] : 1.0f);
    MUST(cuMemcpyDtoH(&threads, seen, 4));
    printf("%s: bad=%d seen=%d of %zu bytes, parameter 3 at %zu of %zu, timed=%d\n", what, bad, threads, seen_bytes,
           offset, size, ms > 0);
    printf("%s: too many threads: %s\n", what,
           name(cuLaunchKernel(kernel, 1, 1, 1, 2048, 1, 1, 0, stream, arguments, nullptr)));
    MUST(cuMemFree(x));
    MUST(cuMemFreeAsync(y, stream));
    return 0;
}

static int what_is_not_there(const std::string &ptx) {
    CUmodule module;
    CUarray array;
    CUDA_ARRAY_DESCRIPTOR shape = {};
    printf("text: %s\n", name(cuModuleLoadData(&module, "hello")));
    printf("half: %s\n",
           name(cuModuleLoadData(&module, (".version 8.0\n.target sm_80\n.visible .entry k(" + ptx).c_str())));
    printf("array: %s\n", name(cuArrayCreate(&array, &shape)));
    CUDA_MEMCPY2D to_array = {};
    to_array.srcMemoryType = to_array.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    printf("copy of arrays: %s\n", name(cuMemcpy2D(&to_array)));
    void *found = nullptr;
    CUdriverProcAddressQueryResult status;
    printf("address: %s\n", name(cuGetProcAddress("cuNothing", &found, 13000, 0, &status)));
    MUST(cuGetProcAddress("cuMemAlloc", &found, 13000, 0, &status));
    printf("same function: %d\n", found == (void *)&cuMemAlloc);
    return 0;
}

static int fault(const std::string &image) {
    CUmodule module;
    CUfunction kernel;
    CUdeviceptr x = 64, y = 64;
    float a = 1;
    int n = 32;
    void *arguments[] = {&x, &y, &a, &n};
    MUST(cuModuleLoadData(&module, image.c_str()));
    MUST(cuModuleGetFunction(&kernel, module, "scale"));
    printf("fault: %s\n", name(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr)));
    printf("it stays: %s\n", name(cuCtxSynchronize()));
    return 0;
}

int main(int, char **words) {
    const std::string ptx = read(words[1]), cubin = read(words[2]), other = read(words[3]);
    if (before_the_start() || run("ptx", ptx) || run("cubin", cubin)) return 1;
    CUmodule module;
    printf("other GPU: %s\n", name(cuModuleLoadData(&module, other.c_str())));
    return what_is_not_there(ptx) || fault(ptx);
}
