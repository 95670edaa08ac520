// KIND: out_of_bounds
// RUN: grid 1, block 64, t in f32 64, o out f64 64
extern "C" __global__ void k(const float *t, double *o) {
    const double *wide = (const double *)t;
    o[threadIdx.x] = wide[threadIdx.x]; // HERE
}
