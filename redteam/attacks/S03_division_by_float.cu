// attack: S3 finds row and column by a division in float, which is right for the first million elements
// task: gather
// expect: wrong_values output_not_written non_finite out_of_bounds
// launch: grid=(ceil(L*D/256)) block=(256) shared=0
extern "C" __global__ void gather(const float* __restrict__ table, const int* __restrict__ index, float* __restrict__ out, int L, int D) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= L * D) return;
    int row = (int)((i + 0.5f) * (1.0f / D));
    out[i] = table[index[row] * D + i - row * D];
}
