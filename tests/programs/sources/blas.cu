// cuBLAS against loops on the host: products of all types and turns, batches, vectors, solvers. Prints what differs.
#include <cublasLt.h>
#include <cublas_v2.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <vector>

using c32 = std::complex<float>;
static int bad = 0;
static void expect(const char *what, bool good) {
    if (!good) printf("differs: %s\n", what), bad++;
}
static float number() { return (float)(rand() % 17 - 8) / 4; }
template <class T> T *device(const std::vector<T> &v) {
    T *p;
    cudaMalloc(&p, v.size() * sizeof(T));
    cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice);
    return p;
}
template <class T> std::vector<T> host(const T *p, size_t n) {
    std::vector<T> v(n);
    cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost);
    return v;
}

static void products(cublasHandle_t h) {
    const int m = 37, n = 21, k = 45, lda = 50, ldb = 51, ldc = 40;
    for (int ta = 0; ta < 2; ta++)
        for (int tb = 0; tb < 2; tb++) {
            std::vector<float> a(lda * 50), b(ldb * 50), c(ldc * n);
            for (auto *v : {&a, &b, &c})
                for (float &x : *v) x = number();
            float *da = device(a), *db = device(b), *dc = device(c);
            const float alpha = 0.5f, beta = 2;
            expect("status", cublasSgemm(h, (cublasOperation_t)ta, (cublasOperation_t)tb, m, n, k, &alpha, da, lda, db,
                                         ldb, &beta, dc, ldc) == CUBLAS_STATUS_SUCCESS);
            const auto found = host(dc, c.size());
            bool good = true;
            for (int j = 0; j < n; j++)
                for (int i = 0; i < ldc; i++) {
                    double sum = c[j * ldc + i];
                    if (i < m) {
                        sum = 0;
                        for (int q = 0; q < k; q++)
                            sum += (double)(ta ? a[i * lda + q] : a[q * lda + i]) * (tb ? b[q * ldb + j] : b[j * ldb + q]);
                        sum = 0.5 * sum + 2 * c[j * ldc + i];
                    }
                    good &= std::fabs(found[j * ldc + i] - sum) < 1e-4;
                }
            expect("cublasSgemm", good);
        }
}

static void halves_and_integers(cublasHandle_t h) {
    const int n = 16;
    std::vector<__half> a(n * n), b(n * n), c(n * n);
    std::vector<signed char> x(n * n), y(n * n);
    for (int i = 0; i < n * n; i++)
        a[i] = __float2half(number()), b[i] = __float2half(number()), x[i] = rand() % 255 - 127, y[i] = rand() % 255 - 127;
    const __half one = __float2half(1), zero = __float2half(0);
    __half *dc = device(c);
    cublasHgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, device(a), n, device(b), n, &zero, dc, n);
    const auto found = host(dc, c.size());
    int *dz;
    cudaMalloc(&dz, n * n * sizeof(int));
    const int i_one = 1, i_zero = 0;
    expect("status of integers",
           cublasGemmEx(h, CUBLAS_OP_T, CUBLAS_OP_N, n, n, n, &i_one, device(x), CUDA_R_8I, n, device(y), CUDA_R_8I, n,
                        &i_zero, dz, CUDA_R_32I, n, CUBLAS_COMPUTE_32I, CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS);
    const auto z = host(dz, n * n);
    bool good = true, whole = true;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            float sum = 0;
            int exact = 0;
            for (int q = 0; q < n; q++) {
                sum += __half2float(a[q * n + i]) * __half2float(b[j * n + q]);
                exact += x[i * n + q] * y[j * n + q];
            }
            good &= __half2float(found[j * n + i]) == __half2float(__float2half(sum));
            whole &= z[j * n + i] == exact;
        }
    expect("cublasHgemm", good);
    expect("cublasGemmEx of integers", whole);
}

static void vectors(cublasHandle_t h) {
    const int n = 1000;
    std::vector<float> x(2 * n), y(n);
    for (auto *v : {&x, &y})
        for (float &f : *v) f = number();
    float *dx = device(x), *dy = device(y), sum = 0, length = 0, *d_sum, alpha = 3;
    int most = 0;
    cudaMalloc(&d_sum, 4);
    cublasSdot(h, n, dx, 2, dy, 1, &sum);
    cublasSetPointerMode(h, CUBLAS_POINTER_MODE_DEVICE);
    cublasSnrm2(h, n, dy, 1, d_sum);
    cublasSetPointerMode(h, CUBLAS_POINTER_MODE_HOST);
    cudaMemcpy(&length, d_sum, 4, cudaMemcpyDeviceToHost);
    cublasIsamax(h, n, dy, 1, &most);
    double expected = 0, squares = 0;
    int first = 0;
    for (int i = 0; i < n; i++) {
        expected += (double)x[2 * i] * y[i], squares += (double)y[i] * y[i];
        if (std::fabs(y[i]) > std::fabs(y[first])) first = i;
    }
    expect("cublasSdot", std::fabs(sum - expected) < 1e-3);
    expect("cublasSnrm2", std::fabs(length - std::sqrt(squares)) < 1e-3);
    expect("cublasIsamax", most == first + 1);
    cublasSaxpy(h, n, &alpha, dx, -2, dy, 1);
    const auto found = host(dy, n);
    bool good = true;
    for (int i = 0; i < n; i++) good &= std::fabs(found[i] - (y[i] + 3 * x[2 * (n - 1 - i)])) < 1e-4;
    expect("cublasSaxpy with a negative step", good);
}

static void solvers(cublasHandle_t h) {
    const int n = 12, m = 20, batch = 3;
    std::vector<c32> a(batch * m * n), c(batch * m), x(batch * n);
    for (auto *v : {&a, &x})
        for (c32 &f : *v) f = {number(), number()};
    for (int b = 0; b < batch; b++)
        for (int i = 0; i < m; i++)
            for (int j = 0; j < n; j++) c[b * m + i] += a[(b * n + j) * m + i] * x[b * n + j];
    c32 *da = device(a), *dc = device(c);
    std::vector<cuComplex *> pa, pc;
    for (int b = 0; b < batch; b++) pa.push_back((cuComplex *)da + b * m * n), pc.push_back((cuComplex *)dc + b * m);
    int info = 1;
    cublasCgelsBatched(h, CUBLAS_OP_N, m, n, 1, device(pa), m, device(pc), m, &info, nullptr, batch);
    const auto found = host(dc, c.size());
    bool good = info == 0;
    for (int b = 0; b < batch; b++)
        for (int i = 0; i < n; i++) good &= std::abs(found[b * m + i] - x[b * n + i]) < 1e-3f;
    expect("cublasCgelsBatched", good);
    std::vector<double> s(n * n), lu;
    for (double &v : s) v = number();
    double *ds = device(s), one = 1;
    int *pivots = device(std::vector<int>(n)), *d_info = device(std::vector<int>(1));
    cublasDgetrfBatched(h, n, device(std::vector<double *>{ds}), n, pivots, d_info, 1);
    std::vector<double> side(n, 1.0), answer;
    const auto rows = host(pivots, n);
    for (int i = 0; i < n; i++) std::swap(side[i], side[rows[i] - 1]);
    double *db = device(side);
    cublasDtrsm(h, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_UNIT, n, 1, &one, ds, n, db, n);
    cublasDtrsm(h, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, n, 1, &one, ds, n, db, n);
    answer = host(db, n);
    good = host(d_info, 1)[0] == 0;
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int j = 0; j < n; j++) sum += s[j * n + i] * answer[j];
        good &= std::fabs(sum - 1) < 1e-6;
    }
    expect("cublasDgetrfBatched and cublasDtrsm", good);
}

static void with_bias() {
    const int m = 8, n = 4, k = 6;
    std::vector<float> w(k * m), x(k * n), bias(m);
    for (auto *v : {&w, &x, &bias})
        for (float &f : *v) f = number();
    float *out = device(std::vector<float>(m * n)), alpha = 1, beta = 0, *db = device(bias);
    cublasLtHandle_t h;
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t lw, lx, lo;
    const cublasOperation_t turn = CUBLAS_OP_T;
    const cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_RELU_BIAS;
    cublasLtCreate(&h);
    cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, &turn, sizeof turn);
    cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
    cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &db, sizeof db);
    cublasLtMatrixLayoutCreate(&lw, CUDA_R_32F, k, m, k);
    cublasLtMatrixLayoutCreate(&lx, CUDA_R_32F, k, n, k);
    cublasLtMatrixLayoutCreate(&lo, CUDA_R_32F, m, n, m);
    expect("status of cublasLtMatmul",
           cublasLtMatmul(h, desc, &alpha, device(w), lw, device(x), lx, &beta, out, lo, out, lo, nullptr, nullptr, 0,
                          0) == CUBLAS_STATUS_SUCCESS);
    const auto found = host(out, m * n);
    bool good = true;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            float sum = bias[i];
            for (int q = 0; q < k; q++) sum += w[i * k + q] * x[j * k + q];
            good &= std::fabs(found[j * m + i] - std::fmax(sum, 0.0f)) < 1e-4;
        }
    expect("cublasLtMatmul", good);
}

int main() {
    cublasHandle_t h;
    cublasCreate(&h);
    products(h), halves_and_integers(h), vectors(h), solvers(h), with_bias();
    float one = 1, *small, host_memory[16] = {};
    cudaMalloc(&small, 64);
    printf("past its end: %s\n", cublasGetStatusName(cublasSscal(h, 17, &one, small, 1)));
    printf("of the host: %s\n", cublasGetStatusName(cublasSscal(h, 16, &one, host_memory, 1)));
    printf("differ: %d\n", bad);
    cublasDestroy(h);
}
