// KIND: endless_loop
// RUN: grid 1, block 32, y out f32 32
extern "C" __global__ void k(float *y) {
    float t = 0.0f, s = 0.0f;
    for (t = 0.0f; t != 1.0f; t += 0.1f) // HERE
        s += t * t;
    y[threadIdx.x] = s;
}
