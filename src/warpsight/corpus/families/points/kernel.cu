// launch: grid=(ceil(N/256)) block=(256) shared=0
extern "C" __global__ void points(const float* __restrict__ p, float* __restrict__ length, int N) {
    int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += step) {
        float4 q = reinterpret_cast<const float4*>(p)[i];
        float sum = q.x * q.x + q.y * q.y + q.z * q.z;
        length[i] = sqrtf(sum);
    }
}
