// Objects made by one kernel and used by others, which name other functions: addresses of functions must be the same.
#include <cstdio>

struct Shape {
    __device__ virtual ~Shape() {}
    __device__ virtual float area() const = 0;
};
struct Box : Shape {
    float a, b;
    __device__ Box(float a, float b) : a(a), b(b) {}
    __device__ float area() const override { return a * b; }
};
struct Cube : Shape {
    float a;
    __device__ Cube(float a) : a(a) {}
    __device__ float area() const override { return a * a; }
};

using Scale = float (*)(float);
__device__ float twice(float x) { return 2 * x; }
__device__ float half(float x) { return x / 2; }
__device__ Scale scales[2] = {half, twice};

__global__ void make(Shape **shapes) { shapes[0] = new Box(3, 4), shapes[1] = new Cube(6), shapes[2] = new Box(2, 3); }
__global__ void use(Shape **shapes, float *areas) { areas[threadIdx.x] = shapes[threadIdx.x]->area(); }
__global__ void scale(Scale by, float *areas) { areas[3] = by(areas[0]); }

int main() {
    Shape **shapes;
    float *areas;
    Scale by[2];
    cudaMalloc(&shapes, 3 * sizeof *shapes);
    cudaMallocManaged(&areas, 4 * sizeof *areas);
    make<<<1, 1>>>(shapes);
    use<<<1, 3>>>(shapes, areas);
    cudaMemcpyFromSymbol(by, scales, sizeof by);
    scale<<<1, 1>>>(by[1], areas);
    const cudaError_t error = cudaDeviceSynchronize();
    printf("area %.2f %.2f %.2f scaled %.2f: %s\n", areas[0], areas[1], areas[2], areas[3], cudaGetErrorName(error));
}
