// attack: G7 a block a row, and as many rows again thirty times that are not there
// task: softmax
// expect: SAME SLOWER no_time interval_too_wide
// launch: grid=(R * 31) block=(256) shared=0
#define THREADS 256

extern "C" __global__ void softmax(const float* __restrict__ x, float* __restrict__ y, int C) {
    if (blockIdx.x % 31 != 30) return;
    __shared__ float scratch[THREADS];
    const float* in = x + (size_t)(blockIdx.x / 31) * C;
    float* out = y + (size_t)(blockIdx.x / 31) * C;
    int t = threadIdx.x;

    float greatest = -__int_as_float(0x7f800000);  // minus infinity
    for (int c = t; c < C; c += THREADS) {
        greatest = fmaxf(greatest, in[c]);
    }
    scratch[t] = greatest;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half) {
            scratch[t] = fmaxf(scratch[t], scratch[t + half]);
        }
        __syncthreads();
    }
    greatest = scratch[0];
    __syncthreads();  // everyone has read it before scratch is used again

    float sum = 0.0f;
    for (int c = t; c < C; c += THREADS) {
        sum += expf(in[c] - greatest);
    }
    scratch[t] = sum;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half) {
            scratch[t] += scratch[t + half];
        }
        __syncthreads();
    }
    sum = scratch[0];

    for (int c = t; c < C; c += THREADS) {
        out[c] = expf(in[c] - greatest) / sum;
    }
}
