// launch: grid=(N/256) block=(256) shared=0

extern "C" __global__ void k(const float *particles, float *y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float vx = particles[3 * n + i], vy = particles[4 * n + i], vz = particles[5 * n + i];
    y[i] = 0.5f * (vx * vx + vy * vy + vz * vz);
}
