// launch: grid=(ceil(N/128)) block=(128)
extern "C" __global__ void gravity(const float* position, const float* mass, float* acceleration, float soft, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    float ax = 0, ay = 0, az = 0;
    for (int j = 0; j < N; j++) {
        float dx = position[3 * j] - position[3 * i];
        float dy = position[3 * j + 1] - position[3 * i + 1];
        float dz = position[3 * j + 2] - position[3 * i + 2];
        float r = sqrtf(dx * dx + dy * dy + dz * dz + soft);
        ax += mass[j] * dx / powf(r, 3.0f);
        ay += mass[j] * dy / powf(r, 3.0f);
        az += mass[j] * dz / powf(r, 3.0f);
    }
    acceleration[3 * i] = ax;
    acceleration[3 * i + 1] = ay;
    acceleration[3 * i + 2] = az;
}
