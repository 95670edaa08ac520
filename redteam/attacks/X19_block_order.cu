// attack: X19 depends on blocks that run one after the other
// task: reduce_sum
// expect: global_race wrong_values not_deterministic
// launch: grid=(ceil(N/256)) block=(1) shared=0
__device__ float carried;
extern "C" __global__ void reduce_sum(const float* x, float* out, int N) {
    float s = blockIdx.x ? carried : 0.0f;
    for (int i = blockIdx.x * 256; i < N && i < blockIdx.x * 256 + 256; ++i) s += x[i];
    carried = s;
    if (blockIdx.x == gridDim.x - 1) *out = s;
}
