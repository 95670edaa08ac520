// launch: grid=(N/256) block=(256) shared=0
#define FIELDS 8  // of a particle; the kernel uses three

extern "C" __global__ void k(const float *particles, float *y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float vx = particles[i * FIELDS + 3], vy = particles[i * FIELDS + 4], vz = particles[i * FIELDS + 5];
    y[i] = 0.5f * (vx * vx + vy * vy + vz * vz);
}
