// launch: grid=(ceil(M/32), ceil(F/8)) block=(32, 8)
extern "C" __global__ void mel_energies(const float* power, const float* bank, float* mel, int F, int M, int B) {
    int m = blockIdx.x * blockDim.x + threadIdx.x;
    int f = blockIdx.y * blockDim.y + threadIdx.y;
    if (m >= M || f >= F) return;
    mel[f * M + m] = 0.0f;
    for (int b = 0; b < B; b++) {
        mel[f * M + m] += power[f * B + b] * bank[m * B + b];
    }
    mel[f * M + m] = log(mel[f * M + m] + 1e-6);
}
