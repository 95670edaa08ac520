// launch: grid=(R) block=(1) shared=0
__kernel void softmax(__global const float* restrict x, __global float* restrict y, int C) {
    __global const float* row = x + (size_t)get_group_id(0) * C;
    __global float* out = y + (size_t)get_group_id(0) * C;
    float m = -INFINITY, s = 0;
    for (int c = 0; c < C; ++c) m = fmax(m, row[c]);
    for (int c = 0; c < C; ++c) s += out[c] = exp(row[c] - m);
    for (int c = 0; c < C; ++c) out[c] /= s;
}
