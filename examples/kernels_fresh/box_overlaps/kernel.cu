// launch: grid=(ceil(N/256)) block=(256)
extern "C" __global__ void box_overlaps(const int* corner, const int* size, int* count, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    count[i] = 0;
    for (int j = 0; j < N; j++) {
        if (j == i) continue;
        int left = max(corner[i * 2], corner[j * 2]);
        int top = max(corner[i * 2 + 1], corner[j * 2 + 1]);
        int right = min(corner[i * 2] + size[i * 2], corner[j * 2] + size[j * 2]);
        int bottom = min(corner[i * 2 + 1] + size[i * 2 + 1], corner[j * 2 + 1] + size[j * 2 + 1]);
        int both = max(right - left, 0) * max(bottom - top, 0);
        int all = size[i * 2] * size[i * 2 + 1] + size[j * 2] * size[j * 2 + 1] - both;
        if ((float)both / all > 0.5f) count[i]++;
    }
}
