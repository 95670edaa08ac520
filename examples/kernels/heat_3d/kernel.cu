// launch: grid=(ceil(X/8), ceil(Y/8), ceil(Z/4)) block=(8, 8, 4)
extern "C" __global__ void heat_3d(const float* u, float* v, float k, int X, int Y, int Z) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= X || y >= Y || z >= Z) return;
    int i = (x * Y + y) * Z + z;
    if (x == 0 || y == 0 || z == 0 || x == X - 1 || y == Y - 1 || z == Z - 1) {
        v[i] = u[i];
    } else {
        v[i] = u[i] + k * (u[i - Y * Z] + u[i + Y * Z] + u[i - Z] + u[i + Z] + u[i - 1] + u[i + 1] - 6 * u[i]);
    }
}
