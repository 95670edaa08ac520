// attack: T4 each thread counts itself: late blocks all at one address, early ones at addresses of their warp
// task: scatter_add
// expect: no_time SAME SLOWER interval_too_wide
// baseline: scatter_add_counted.cu
// launch: grid=(ceil(N/256) + 100) block=(256) shared=0
__device__ unsigned order;
__device__ unsigned tally[1 << 16];
extern "C" __global__ void scatter_add(const float* __restrict__ values, const int* __restrict__ index, float* out, int N) {
    __shared__ int ticket;
    if (threadIdx.x == 0) ticket = atomicInc(&order, gridDim.x - 1);
    __syncthreads();
    bool decoy = ticket < 100;
    int i = (decoy ? ticket : ticket - 100) * 256 + threadIdx.x;
    if (i >= N) return;
    // A decoy has an address for each lane and a line for each warp step: other addresses, as many sectors as a random index.
    atomicAdd(&tally[decoy ? 1 + (i / 32 & 1023) * 8 : 0], (unsigned)index[i]);
    atomicAdd(decoy ? (float*)&tally[16384 + (i * 8 & 32767)] : &out[index[i]], values[i]);
}
