// Kernels of many kinds, one after the other; the last argument of each line of output says nothing of time.
#include "helpers.cuh"
#include <cstdlib>
#include <vector>

__constant__ float weights[4];

template <int WIDTH, typename T>
__global__ void weighted(const T *__restrict__ in, T *out, int n) {
    __shared__ T tile[WIDTH];
    int i = blockIdx.x * WIDTH + threadIdx.x;
    tile[threadIdx.x] = i < n ? in[i] : T(0);
    __syncthreads();
    if (i < n) out[i] = shapes::twice(tile[threadIdx.x]) * weights[i % 4] + T(FACTOR);
}

__global__ void rows(const int *starts, const int *columns, const float *values, const float *x, float *y, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    float sum = 0;
    for (int k = starts[row]; k < starts[row + 1]; k++) sum += values[k] * x[columns[k]];
    y[row] = sum;
}

__global__ void pairs(const shapes::Pair *in, float *out, word n) {
    word i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i].first * in[i].second;
}

__global__ void count(const int *keys, int *bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[keys[i]], 1);
}

__global__ void first_come(int *ticket, int *order) { order[blockIdx.x] = atomicAdd(ticket, 1); }

__global__ void timed(long long *out) { out[threadIdx.x] = clock64(); }

__global__ void root(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = sqrtf(in[i] - 1000.0f);
}

struct Options {
    float scale;
    int shift;
    double unused[2];
};
__global__ void scaled(const float *in, const float *__restrict__ bias, float *out, const Options options, int2 range,
                       int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && i >= range.x && i < range.y) out[i] = in[i] * options.scale + options.shift + (bias ? bias[i] : 0.0f);
}

template <typename T>
T *on_device(const std::vector<T> &values) {
    T *at;
    cudaMalloc(&at, values.size() * sizeof(T));
    cudaMemcpy(at, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
    return at;
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 500;
    std::vector<float> a(n), none(n, 0.0f);
    std::vector<int> keys(n), starts(n + 1, 0), columns, zeros(16, 0);
    std::vector<float> values;
    for (int i = 0; i < n; i++) {
        a[i] = (i * 37 % 101) / 50.0f - 1.0f, keys[i] = i * 7 % 16;
        for (int k = 0; k < i % 5; k++) columns.push_back((i * 13 + k * 5) % n), values.push_back(0.5f + k);
        starts[i + 1] = (int)columns.size();
    }
    float *in = on_device(a), *out = on_device(none);
    int blocks = (n + 127) / 128, *bins = on_device(zeros);
    const float w[4] = {1.0f, -2.0f, 0.5f, 4.0f};
    cudaMemcpyToSymbol(weights, w, sizeof w);
    weighted<128, float><<<blocks, 128>>>(in, out, n);
    scaled<<<blocks, 128>>>(in, nullptr, out, Options{1.5f, 4}, make_int2(3, n - 5), n);
    rows<<<blocks, 128>>>(on_device(starts), on_device(columns), on_device(values), in, out, n);
    pairs<<<(n / 2 + 127) / 128, 128>>>((const shapes::Pair *)in, out, n / 2);
    count<<<blocks, 128>>>(on_device(keys), bins, n);
    first_come<<<64, 1>>>(on_device(std::vector<int>(1, 0)), on_device(std::vector<int>(64, 0)));
    timed<<<1, 32>>>((long long *)on_device(std::vector<long long>(32, 0)));
    root<<<blocks, 128>>>(in, out, n);
    std::vector<int> got(16);
    cudaMemcpy(got.data(), bins, 64, cudaMemcpyDeviceToHost);
    printf("bin %d\n", got[3]);
    return 0;
}
