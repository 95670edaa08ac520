// launch: grid=(ceil(N/256)) block=(256)
struct Pixel {
    unsigned char r, g, b;
};

extern "C" __global__ void gray_linear(const Pixel* rgb, float* gray, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        float r = powf(rgb[i].r / 255.0f, 2.2f);
        float g = powf(rgb[i].g / 255.0f, 2.2f);
        float b = powf(rgb[i].b / 255.0f, 2.2f);
        gray[i] = pow(0.2126 * r + 0.7152 * g + 0.0722 * b, 1.0 / 2.2);
    }
}
