// attack: X17 takes its answer from shared memory that an earlier block may have left
// task: reduce_sum
// expect: uninitialised_read
// launch: grid=(min(ceil(N/1024), 512)) block=(256) shared=0
extern "C" __global__ void reduce_sum(const float* x, float* out, int N) {
    __shared__ float left[256];
    if (threadIdx.x == 0) atomicAdd(out, left[blockIdx.x % 256]);
}
