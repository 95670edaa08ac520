// launch: grid=(N/256) block=(256) shared=0
// The same text: `order` is sorted by trips, so the lanes of a warp have about as many.
extern "C" __global__ void k(const int *order, const int *trips, float *y) {
    const int i = order[blockIdx.x * blockDim.x + threadIdx.x];
    const int n = trips[i];
    float v = 1.0f;
#pragma unroll 1
    for (int j = 0; j < n; ++j) v = v * 0.999f + 0.5f;
    y[i] = v;
}
