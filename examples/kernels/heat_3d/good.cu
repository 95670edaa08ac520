// launch: grid=(ceil(Z/32), ceil(Y/8), ceil(X/16)) block=(32, 8)
// Lanes go along z, where elements are neighbours in memory. A thread walks 16 planes along x and keeps three of its
// column in registers.
#define PLANES 16

extern "C" __global__ void heat_3d(const float* __restrict__ u, float* __restrict__ v, float k, int X, int Y, int Z) {
    int z = blockIdx.x * 32 + threadIdx.x;
    int y = blockIdx.y * 8 + threadIdx.y;
    if (z >= Z || y >= Y) return;
    int first = blockIdx.z * PLANES, last = min(first + PLANES, X);
    bool edge = y == 0 || z == 0 || y == Y - 1 || z == Z - 1;
    int plane = Y * Z;
    int i = first * plane + y * Z + z;
    float before = first > 0 ? u[i - plane] : 0.0f, here = u[i];
#pragma unroll 4
    for (int x = first; x < last; ++x, i += plane) {
        float after = x + 1 < X ? u[i + plane] : 0.0f;
        float out = here;
        if (!edge && x > 0 && x < X - 1) {
            out += k * (before + after + u[i - Z] + u[i + Z] + u[i - 1] + u[i + 1] - 6.0f * here);
        }
        v[i] = out;
        before = here;
        here = after;
    }
}
