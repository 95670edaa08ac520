// launch: grid=(min(ceil(N/1024), 256)) block=(256) shared=4*BINS
// The last argument is the dynamic local memory that `shared` above asks for.
__kernel void histogram(__global const int* restrict values, __global uint* counts, int N, int BINS,
                        __local uint* mine) {
    for (int b = get_local_id(0); b < BINS; b += get_local_size(0)) {
        mine[b] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_global_id(0); i < N; i += get_global_size(0)) {
        atomic_add(&mine[values[i]], 1u);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int b = get_local_id(0); b < BINS; b += get_local_size(0)) {
        if (mine[b] > 0) {
            atomic_add(&counts[b], mine[b]);
        }
    }
}
