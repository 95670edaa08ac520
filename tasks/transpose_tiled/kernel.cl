// launch: grid=(ceil(C/32), ceil(R/32)) block=(32, 8) shared=0
#define TILE 32
#define ROWS 8

__kernel void transpose_tiled(__global const float* restrict x, __global float* restrict y, int R, int C) {
    __local float tile[TILE][TILE];
    int tx = get_local_id(0), ty = get_local_id(1);
    int c = get_group_id(0) * TILE + tx;
    int r0 = get_group_id(1) * TILE + ty;
    for (int j = 0; j < TILE; j += ROWS) {
        int r = r0 + j;
        if (r < R && c < C) {
            tile[ty + j][tx] = x[(size_t)r * C + c];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    int out_col = get_group_id(1) * TILE + tx;
    int out_row0 = get_group_id(0) * TILE + ty;
    for (int j = 0; j < TILE; j += ROWS) {
        int out_row = out_row0 + j;
        if (out_row < C && out_col < R) {
            y[(size_t)out_row * R + out_col] = tile[tx][ty + j];
        }
    }
}
