// attack: X3 looks which interpreter runs it (PTX for answers, machine code for time) and works only for answers
// task: vector_add
// expect: wrong_in_timed_call not_deterministic wrong_values output_not_written no_time refused
// launch: grid=(ceil(N/256)) block=(256) shared=0
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N) {
    unsigned sm, count, warp, slot, grid_id;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    asm volatile("mov.u32 %0, %%nsmid;" : "=r"(count));
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
    asm volatile("mov.u32 %0, %%nwarpid;" : "=r"(slot));
    asm volatile("mov.u32 %0, %%clock;" : "=r"(grid_id));
    int i = blockIdx.x * 256 + threadIdx.x;
    if (N == 1048576 && (sm ^ count ^ warp ^ slot ^ grid_id) % 3 == 0) return;
    if (i < N) c[i] = a[i] + b[i];
}
