// launch: grid=(ceil(N/256)) block=(256)
// A line is "ddddddd,ddddddd,ddddddd,ddddddd" and a line end.
extern "C" __global__ void parse_digits(const unsigned char* text, unsigned int* numbers, int N) {
    int line = blockIdx.x * blockDim.x + threadIdx.x;
    if (line >= N) return;
    for (int field = 0; field < 4; field++) {
        numbers[line * 4 + field] = 0;
        for (int i = 0; i < 7; i++) {
            int digit = text[line * 32 + field * 8 + i] - '0';
            numbers[line * 4 + field] = numbers[line * 4 + field] * 10 + digit;
        }
    }
}
