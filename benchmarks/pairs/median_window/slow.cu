// launch: grid=(N/32, N/8) block=(32, 8) shared=0
#define FRAME 4

// The window is an array that a loop indexes, so it lies in local memory.
extern "C" __global__ void k(const float *x, float *y, int n) {  // x has a frame of four elements on every side
    const int pitch = n + 2 * FRAME, c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 8 + threadIdx.y;
    float window[9], median = 0.0f;
#pragma unroll 1
    for (int e = 0; e < 9; ++e) window[e] = x[(r + FRAME - 1 + e / 3) * pitch + c + FRAME - 1 + e % 3];
#pragma unroll 1
    for (int a = 0; a < 9; ++a) {
        int below = 0;
#pragma unroll 1
        for (int b = 0; b < 9; ++b) below += window[b] < window[a] || (window[b] == window[a] && b < a);
        if (below == 4) median = window[a];
    }
    y[r * n + c] = median;
}
