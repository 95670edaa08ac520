// cuFFT against sums on the host, and what is known of cuRAND's numbers.
#include <cufft.h>
#include <curand.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <vector>

using c32 = std::complex<float>;
using c64 = std::complex<double>;

static double worst = 0;
static void compare(const std::vector<c64> &x, const std::vector<c64> &found, int sign) {
    const size_t n = x.size();
    for (size_t k = 0; k < n; k++) {
        c64 sum = 0;
        for (size_t j = 0; j < n; j++) sum += x[j] * std::polar(1.0, sign * 2 * M_PI * (double)(j * k % n) / (double)n);
        worst = std::fmax(worst, std::abs(sum - found[k]) / std::sqrt((double)n));
    }
}

int main() {
    for (int n : {1, 2, 12, 64, 97, 360}) {
        std::vector<c64> x(n), out(n);
        for (int i = 0; i < n; i++) x[i] = {std::sin(i * i + 1.0), std::cos(3.0 * i)};
        cufftDoubleComplex *d;
        cudaMalloc(&d, n * sizeof *d);
        cufftHandle plan;
        cufftPlan1d(&plan, n, CUFFT_Z2Z, 1);
        for (int sign : {CUFFT_FORWARD, CUFFT_INVERSE}) {
            cudaMemcpy(d, x.data(), n * sizeof *d, cudaMemcpyHostToDevice);
            if (cufftExecZ2Z(plan, d, d, sign) != CUFFT_SUCCESS) puts("failed");
            cudaMemcpy(out.data(), d, n * sizeof *d, cudaMemcpyDeviceToHost);
            compare(x, out, sign);
        }
        cufftDestroy(plan);
    }
    printf("transforms: %s\n", worst < 1e-9 ? "good" : "bad");

    // There and back in two dimensions, from real numbers, of a batch with gaps.
    const int rows = 6, columns = 10, batch = 3, half = columns / 2 + 1;
    int n[2] = {rows, columns}, in_embed[2] = {rows, columns + 2}, out_embed[2] = {rows, half + 1};
    const int in_distance = rows * (columns + 2), out_distance = rows * (half + 1);
    std::vector<float> x(batch * in_distance), back(x.size());
    for (size_t i = 0; i < x.size(); i++) x[i] = (float)std::sin(7.0 * (double)i);
    float *d_x;
    cufftComplex *d_y;
    cudaMalloc(&d_x, x.size() * 4), cudaMalloc(&d_y, batch * out_distance * sizeof *d_y);
    cudaMemcpy(d_x, x.data(), x.size() * 4, cudaMemcpyHostToDevice);
    cufftHandle there, again;
    cufftPlanMany(&there, 2, n, in_embed, 1, in_distance, out_embed, 1, out_distance, CUFFT_R2C, batch);
    cufftPlanMany(&again, 2, n, out_embed, 1, out_distance, in_embed, 1, in_distance, CUFFT_C2R, batch);
    cufftExecR2C(there, d_x, d_y);
    cudaMemset(d_x, 0, x.size() * 4);
    cufftExecC2R(again, d_y, d_x);
    cudaMemcpy(back.data(), d_x, x.size() * 4, cudaMemcpyDeviceToHost);
    bool good = true;
    for (int b = 0; b < batch; b++)
        for (int r = 0; r < rows; r++)
            for (int c = 0; c < columns; c++) {
                const int at = b * in_distance + r * (columns + 2) + c;
                good &= std::fabs(back[at] / (rows * columns) - x[at]) < 1e-5;
            }
    printf("there and back: %s\n", good ? "good" : "bad");
    cufftComplex *small;
    cudaMalloc(&small, 64);
    cufftHandle large;
    cufftPlan1d(&large, 9, CUFFT_C2C, 1);
    printf("past its end: %d\n", cufftExecC2C(large, small, small, CUFFT_FORWARD));

    const int draws = 100000;
    float *d_r;
    cudaMalloc(&d_r, draws * 4);
    curandGenerator_t g;
    curandCreateGenerator(&g, CURAND_RNG_PSEUDO_PHILOX4_32_10);
    std::vector<float> r(draws), same(draws);
    auto drawn = [&](std::vector<float> &to) { cudaMemcpy(to.data(), d_r, draws * 4, cudaMemcpyDeviceToHost); };
    curandSetPseudoRandomGeneratorSeed(g, 42);
    curandGenerateUniform(g, d_r, draws), drawn(r);
    curandSetPseudoRandomGeneratorSeed(g, 42);
    curandGenerateUniform(g, d_r, draws), drawn(same);
    double mean = 0, square = 0;
    bool inside = true;
    for (float v : r) mean += v / draws, inside &= v > 0 && v <= 1;
    printf("uniform: %s, %s\n", inside && std::fabs(mean - 0.5) < 0.01 ? "good" : "bad", r == same ? "same" : "other");
    curandGenerateNormal(g, d_r, draws, 3, 2), drawn(r);
    mean = 0;
    for (float v : r) mean += v / draws;
    for (float v : r) square += (v - mean) * (v - mean) / draws;
    printf("normal: %s\n", std::fabs(mean - 3) < 0.05 && std::fabs(std::sqrt(square) - 2) < 0.05 ? "good" : "bad");
    printf("quasi: %d\n", curandCreateGenerator(&g, CURAND_RNG_QUASI_SOBOL32));
}
