// Bytes 0 to 2 of a word are written, the whole word is read.
extern "C" __global__ void k(unsigned *y, unsigned *z) {
    unsigned char *bytes = (unsigned char *)(y + threadIdx.x);
    for (int i = 0; i < 3; i++) ((volatile unsigned char *)bytes)[i] = i;
    z[threadIdx.x] = *(volatile unsigned *)bytes; // FAULT: uninitialised_read
}
