#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>
// The sums of the rows of a matrix, one thread a row, which reads far apart.
template <typename T>
__global__ void row_sums(const T *a, T *out, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    T sum = 0;
    for (int j = 0; j < columns; j++) sum += a[row * columns + j];
    out[row] = sum;
  }
}
int main(int argc, char **argv) {
  int rows = argc > 1 ? atoi(argv[1]) : 512, columns = 256;
  std::vector<float> a(rows * columns), out(rows);
  for (int i = 0; i < rows * columns; i++) a[i] = (i * 7 % 13) / 8.0f;
  float *da, *dout;
  cudaMalloc(&da, a.size() * 4); cudaMalloc(&dout, rows * 4);
  cudaMemcpy(da, a.data(), a.size() * 4, cudaMemcpyHostToDevice);
  row_sums<float><<<(rows + 127) / 128, 128>>>(da, dout, rows, columns);
  cudaMemcpy(out.data(), dout, rows * 4, cudaMemcpyDeviceToHost);
  bool ok = true;
  for (int r = 0; r < rows; r++) { double want = 0; for (int j = 0; j < columns; j++) want += a[r * columns + j]; ok = ok && fabs(want - out[r]) < 1e-2; }
  printf("%s\n", ok ? "PASS" : "FAIL");
  return !ok; }
