// launch: grid=(R) block=(256) shared=0
#define MAX_C 1024

extern "C" __global__ void bitonic_sort(const int* __restrict__ x, int* __restrict__ y, int C) {
    __shared__ int s[MAX_C];
    const int* in = x + (size_t)blockIdx.x * C;
    int* out = y + (size_t)blockIdx.x * C;
    int width = 1;
    while (width < C) {
        width *= 2;
    }
    for (int i = threadIdx.x; i < width; i += blockDim.x) {
        s[i] = i < C ? in[i] : 0x7fffffff;  // the padding sorts to the end
    }
    __syncthreads();
    for (int size = 2; size <= width; size *= 2) {
        for (int stride = size / 2; stride > 0; stride /= 2) {
            for (int t = threadIdx.x; t < width / 2; t += blockDim.x) {
                int low = 2 * t - (t & (stride - 1));
                int high = low + stride;
                bool ascending = (low & size) == 0;
                int a = s[low], b = s[high];
                if ((a > b) == ascending) {
                    s[low] = b;
                    s[high] = a;
                }
            }
            __syncthreads();
        }
    }
    for (int i = threadIdx.x; i < C; i += blockDim.x) {
        out[i] = s[i];
    }
}
