// launch: grid=(ceil((W - R + 1)/32), ceil((H - R + 1)/8), K) block=(32, 1, 8) shared=0
#define ROWS 8
#define TEAMS 8
#define WIDE 32

// A thread has eight places below one another: a weight serves all of them, and so does most of what it loads of the
// image. Loads of the image are plain ones: unaligned rows cost more by the read-only path. The usual size of the window
// is known to the compiler, so its loads are under way before the first is used.
template <int SIDE, int PLACES>
__device__ void add(float* sum, const float* corner, const float* __restrict__ filter, int C, int H, int W,
                    int R) {
    int side = SIDE > 0 ? SIDE : R;
    corner += (size_t)threadIdx.z * H * W;
    filter += threadIdx.z * side * side;
#pragma unroll 1  // registers for more warps are worth more than a second channel under way
    for (int c = threadIdx.z; c < C; c += TEAMS) {
#pragma unroll
        for (int dy = 0; dy < side; ++dy) {
#pragma unroll
            for (int dx = 0; dx < side; ++dx) {
                float weight = filter[dy * side + dx];
#pragma unroll
                for (int p = 0; p < PLACES; ++p) sum[p] += corner[(dy + p) * W + dx] * weight;
            }
        }
        corner += (size_t)TEAMS * H * W;
        filter += TEAMS * side * side;
    }
}

// Eight teams of a block take turns at the channels; then each adds up one row of what they found.
extern "C" __global__ void conv2d(const float* image, const float* __restrict__ filters,
                                  float* out, int C, int H, int W, int R) {
    __shared__ float parts[TEAMS][ROWS][WIDE];
    int out_h = H - R + 1, out_w = W - R + 1, team = threadIdx.z;
    int x = blockIdx.x * WIDE + threadIdx.x, y = blockIdx.y * ROWS;
    const float* filter = filters + (size_t)blockIdx.z * C * R * R;
    const float* corner = image + y * W + x;
    float sum[ROWS] = {};
    if (x < out_w && y + ROWS <= out_h) {
        if (R == 3) {
            add<3, ROWS>(sum, corner, filter, C, H, W, R);
        } else {
            add<0, ROWS>(sum, corner, filter, C, H, W, R);
        }
    } else if (x < out_w) {
#pragma unroll
        for (int p = 0; p < ROWS; ++p) {
            if (y + p < out_h) add<0, 1>(&sum[p], corner + p * W, filter, C, H, W, R);
        }
    }
#pragma unroll
    for (int p = 0; p < ROWS; ++p) parts[team][p][threadIdx.x] = sum[p];
    __syncthreads();
    int row = y + team;
    if (x < out_w && row < out_h) {
        float whole = 0.0f;
#pragma unroll
        for (int other = 0; other < TEAMS; ++other) whole += parts[other][team][threadIdx.x];
        out[((size_t)blockIdx.z * out_h + row) * out_w + x] = whole;
    }
}
