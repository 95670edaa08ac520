// A program with the honest runtime and a second thread, a child or a hole in its memory that is not honest.
#include <cooperative_groups.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

__device__ int counter;
__device__ int *places[64];

__global__ void add(int *x, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += 1;
    if (i == 0) counter++;
}
__global__ void follow(int **to) { **to = 7; }
__global__ void heap(int n) {
    for (int i = 0; i < n; i++) {
        int *p = (int *)malloc(64);
        if (p == nullptr) return;
        p[threadIdx.x % 16] = i;
        if (i % 2) free(p);
    }
}
__global__ void meet(int *x) {
    cooperative_groups::this_grid().sync();
    x[blockIdx.x] = 1;
}

static std::atomic<bool> over{false};

// A second look at a part of device memory: `from` bytes before its end, since the rest of it may not be mapped twice.
static void scribble(size_t from, size_t size) {
    struct stat s;
    fstat(7, &s);
    const size_t at = (s.st_size - from) / 4096 * 4096;
    char *p = (char *)mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, 7, at);
    if (p == MAP_FAILED) _exit(9);
    unsigned seed = 1;
    while (!over) {
        for (size_t i = 0; i < size; i += 8) {
            seed = seed * 1664525u + 1013904223u;
            const unsigned long value = seed % 3 ? seed : ~0ul;
            memcpy(p + i, &value, 8);
        }
    }
}
static size_t bytes_after(const void *x) {
    struct stat s;
    fstat(7, &s);
    return s.st_size - ((unsigned long)x - 0x200000000ul);
}
static void started(std::thread &) { usleep(200000); }
static void launches(int n) {
    int *x;
    cudaMalloc(&x, 1 << 16);
    for (int i = 0; i < n; i++) add<<<64, 256>>>(x, 1 << 14);
    printf("launches: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}

int main(int argc, char **argv) {
    const std::string what = argv[1];
    int *x;
    cudaMalloc(&x, 1 << 20);
    add<<<1, 32>>>(x, 32);
    cudaDeviceSynchronize();
    if (what == "scribble") {  // over arrays while kernels read and write them
        std::thread other(scribble, bytes_after(x), 1 << 20);
        started(other);
        for (int i = 0; i < 200; i++) add<<<64, 256>>>(x, 1 << 14);
        printf("launches: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
        over = true, other.join();
    }
    if (what == "own") {  // over what is the core's: device heap, meeting place, variables
        heap<<<1, 32>>>(4);
        cudaDeviceSynchronize();
        std::thread other(scribble, 1 << 30, 16 << 20);
        started(other);
        for (int i = 0; i < 20; i++) heap<<<4, 64>>>(20), add<<<4, 64>>>(x, 256);
        printf("launches: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
        over = true, other.join();
    }
    if (what == "meet") {  // a place to meet that somebody writes over
        std::thread other(scribble, 1 << 30, 1 << 20);
        started(other);
        void *arguments[] = {&x};
        for (int i = 0; i < 5; i++) cudaLaunchCooperativeKernel((void *)meet, dim3(8), dim3(64), arguments, 0, 0);
        printf("launches: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
        over = true, other.join();
    }
    if (what == "pointer") {  // a pointer in memory that leads out of it, to where the core lies or not
        for (unsigned long at :
             {0ul, 8ul, 0x7f0000000000ul, ~0ul - 7, 0x200000000ul + (50ul << 30), (unsigned long)argv}) {
            cudaMemcpy(x, &at, 8, cudaMemcpyHostToDevice);
            follow<<<1, 1>>>((int **)x);
        }
        printf("launches: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    }
    if (what == "interleave") {  // bytes between the messages of launches
        std::thread other([] {
            while (!over) (void)!write(6, "garbage", 7), usleep(100);
        });
        launches(100000);
        over = true, other.join();
    }
    if (what == "unmap") {
        int *page = (int *)(((unsigned long)x + 4095) / 4096 * 4096);
        printf("unmap: %d\n", munmap(page, 1 << 19));
        launches(3);
        printf("still here\n"), fflush(stdout);
        *(volatile int *)page = 1;
    }
    if (what == "remap") {  // other memory where the device's was
        int y = -1;
        int *page = (int *)(((unsigned long)x + 4095) / 4096 * 4096);
        mmap(page, 1 << 19, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        add<<<1, 32>>>(page, 32);
        cudaMemcpy(&y, page, 4, cudaMemcpyDeviceToHost);
        printf("seen: %d\n", y);
    }
    if (what == "fork") {  // a child that speaks to the same GPU
        const pid_t child = fork();
        launches(2000);
        if (child == 0) _exit(0);
        int status;
        waitpid(child, &status, 0);
    }
    if (what == "close") {
        close(6);
        launches(3);
    }
    printf("end\n");
    return 0;
}
