// attack: T14 every second block, by a hash of its index, is an idle look-alike: as many instructions, one shared word for all lanes
// task: transpose
// expect: no_time SAME SLOWER interval_too_wide
// baseline: transpose_conflicts.cu
// launch: grid=(ceil(C/32), ceil(R/32), 2) block=(32, 32) shared=0
extern "C" __global__ void transpose(const float* x, float* y, int R, int C) {
    __shared__ float tile[1024];
    int n = blockIdx.y * gridDim.x + blockIdx.x;
    bool decoy = (((n ^ n >> 5) * 0x9e3779b1u) >> 16 & 1) == blockIdx.z;
    int px = decoy ? 1 : 32, py = decoy ? 32 : 1;
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
    float v = r < R && c < C ? x[(size_t)r * C + c] : 0.0f;
    tile[threadIdx.y * py + threadIdx.x * px] = v;
    __syncthreads();
    int oc = blockIdx.y * 32 + threadIdx.x, orow = blockIdx.x * 32 + threadIdx.y;
    float w = 0;
    for (int t = 0; t < 64; ++t) w += ((volatile float*)tile)[(threadIdx.x + t & 31) * py + threadIdx.y * px];
    w = tile[threadIdx.x * py + threadIdx.y * px] + (w == 1.2345e30f);
    if (!decoy && orow < C && oc < R) y[(size_t)orow * R + oc] = w;
}
