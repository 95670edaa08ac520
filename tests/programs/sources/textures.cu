// Textures and surfaces: points and filtered ones, edges, normalised bytes, vectors, layers, volumes, cubes, gathers.
#include <cmath>
#include <cstdio>
#include <cstring>
__global__ void read_plane(cudaTextureObject_t t, const float2 *at, float *out, int n) {
    int i = threadIdx.x;
    if (i < n) out[i] = tex2D<float>(t, at[i].x, at[i].y);
}
__global__ void read_others(cudaTextureObject_t line, cudaTextureObject_t bytes, cudaTextureObject_t layers,
                            cudaTextureObject_t volume, cudaTextureObject_t cube, cudaTextureObject_t plane,
                            float *out) {
    out[0] = tex1Dfetch<float>(line, 3), out[1] = tex1Dfetch<float>(line, 100);
    float4 b = tex2D<float4>(bytes, 1.5f, 0.5f);
    out[2] = b.x, out[3] = b.w;
    out[4] = tex2DLayered<float>(layers, 2.5f, 1.5f, 1), out[5] = tex2DLayered<float>(layers, 2.5f, 1.5f, 9);
    out[6] = tex3D<float>(volume, 1.5f, 0.5f, 1.0f);
    out[7] = texCubemap<float>(cube, 0, -1, 0), out[8] = texCubemap<float>(cube, 0.2f, 0.1f, 0.9f);
    out[9] = tex2DLod<float>(plane, 2.5f, 1.5f, 0);
    float4 g = tex2Dgather<float4>(plane, 2.0f, 2.0f, 0);
    out[10] = g.x, out[11] = g.y, out[12] = g.z, out[13] = g.w;
}
__global__ void write_surface(cudaSurfaceObject_t s, int *clamped) {
    int x = threadIdx.x, y = threadIdx.y;
    surf2Dwrite((float)(10 * y + x), s, x * 4, y);
    surf2Dwrite(99.0f, s, -4, 0, cudaBoundaryModeZero);
    __syncthreads();
    float edge = surf2Dread<float>(s, 400, y, cudaBoundaryModeClamp),
          none = surf2Dread<float>(s, 400, y, cudaBoundaryModeZero);
    if (!x) clamped[y] = (int)edge * 10 + (int)none;
}
__global__ void beyond(cudaSurfaceObject_t s) { surf2Dwrite(1.0f, s, 400, 0); }

static cudaTextureObject_t texture(cudaArray_t a, bool linear, bool normalized, cudaTextureAddressMode mode,
                                   bool bytes) {
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray, r.res.array.array = a;
    cudaTextureDesc d = {};
    d.addressMode[0] = d.addressMode[1] = d.addressMode[2] = mode, d.normalizedCoords = normalized;
    d.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
    d.readMode = bytes ? cudaReadModeNormalizedFloat : cudaReadModeElementType, d.borderColor[0] = -7;
    cudaTextureObject_t t = 0;
    cudaCreateTextureObject(&t, &r, &d, nullptr);
    return t;
}
static cudaArray_t filled(cudaExtent e, unsigned flags, int planes) {
    float data[256];
    for (int i = 0; i < 256; i++) data[i] = (float)i;
    cudaArray_t a;
    cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
    cudaMalloc3DArray(&a, &f, e, flags);
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr(data, e.width * 4, e.width, e.height), p.dstArray = a,
    p.kind = cudaMemcpyHostToDevice;
    p.extent = make_cudaExtent(e.width, e.height, planes);
    cudaMemcpy3D(&p);
    return a;
}
int main() {
    int bad = 0;
    cudaArray_t plane = filled(make_cudaExtent(4, 3, 0), cudaArrayTextureGather, 1);
    const float2 at[] = {{1.5f, 1.5f}, {2.0f, 1.5f}, {-3.0f, 0.5f}, {9.0f, 9.0f}, {1.25f, 0.75f}};
    const float2 unit[] = {{0.375f, 0.5f}, {1.375f, 0.5f}, {-0.125f, 0.5f}, {0.0f, 0.5f}, {0.9f, 1.4f}};
    struct {
        bool linear, normalized;
        cudaTextureAddressMode mode;
        float wanted[5];
    } cases[] = {
        {false, false, cudaAddressModeClamp, {5, 6, 0, 11, 1}},
        {true, false, cudaAddressModeClamp, {5, 5.5f, 0, 11, 1.75f}},
        {false, false, cudaAddressModeBorder, {5, 6, -7, -7, 1}},
        {true, true, cudaAddressModeWrap, {5, 5, 7, 5.5f, 0}},
        {true, true, cudaAddressModeMirror, {5, 6, 4, 4, 0}},
    };
    float2 *places;
    float *out, got[16];
    cudaMalloc(&places, sizeof at), cudaMalloc(&out, sizeof got);
    for (auto &c : cases) {
        cudaTextureObject_t t = texture(plane, c.linear, c.normalized, c.mode, false);
        cudaMemcpy(places, c.normalized ? unit : at, sizeof at, cudaMemcpyHostToDevice);
        read_plane<<<1, 32>>>(t, places, out, c.normalized ? 4 : 5);
        cudaMemcpy(got, out, sizeof at / 2, cudaMemcpyDeviceToHost);
        for (int i = 0; i < (c.normalized ? 4 : 5); i++)
            if (got[i] != c.wanted[i])
                bad++, printf("case %d: %d: %g, not %g\n", (int)(&c - cases), i, got[i], c.wanted[i]);
        cudaDestroyTextureObject(t);
    }
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeLinear, r.res.linear.devPtr = out, r.res.linear.desc = cudaCreateChannelDesc<float>();
    r.res.linear.sizeInBytes = 5 * 4;
    cudaTextureDesc d = {};
    cudaTextureObject_t line, rgba;
    cudaCreateTextureObject(&line, &r, &d, nullptr);
    const unsigned char colours[] = {0, 0, 0, 0, 255, 128, 0, 51};
    cudaArray_t bytes;
    cudaChannelFormatDesc four = cudaCreateChannelDesc<uchar4>();
    cudaMallocArray(&bytes, &four, 2, 1), cudaMemcpy2DToArray(bytes, 0, 0, colours, 8, 8, 1, cudaMemcpyHostToDevice);
    rgba = texture(bytes, false, false, cudaAddressModeClamp, true);
    cudaTextureObject_t layers =
        texture(filled(make_cudaExtent(4, 3, 2), cudaArrayLayered, 2), false, false, cudaAddressModeClamp, false);
    cudaTextureObject_t volume =
        texture(filled(make_cudaExtent(4, 3, 2), 0, 2), true, false, cudaAddressModeClamp, false);
    cudaTextureObject_t cube =
        texture(filled(make_cudaExtent(2, 2, 6), cudaArrayCubemap, 6), false, true, cudaAddressModeClamp, false);
    cudaTextureObject_t whole = texture(plane, false, false, cudaAddressModeClamp, false);
    float *others;
    cudaMalloc(&others, sizeof got);
    read_others<<<1, 1>>>(line, rgba, layers, volume, cube, whole, others);
    cudaMemcpy(got, others, sizeof got, cudaMemcpyDeviceToHost);
    const float wanted[] = {4, 0, 1, 0.2f, 18, 18, 7, 15, 17, 6, 9, 10, 6, 5};
    for (int i = 0; i < 14; i++)
        if (std::fabs(got[i] - wanted[i]) > 1e-6f) bad++, printf("read %d: %g, not %g\n", i, got[i], wanted[i]);
    cudaArray_t drawn = filled(make_cudaExtent(4, 3, 0), cudaArraySurfaceLoadStore, 1);
    r = {}, r.resType = cudaResourceTypeArray, r.res.array.array = drawn;
    cudaSurfaceObject_t surface;
    cudaCreateSurfaceObject(&surface, &r);
    int *clamped, edges[3];
    cudaMalloc(&clamped, sizeof edges);
    write_surface<<<1, dim3(4, 3)>>>(surface, clamped);
    cudaMemcpy2DFromArray(got, 16, drawn, 0, 0, 16, 3, cudaMemcpyDeviceToHost);
    cudaMemcpy(edges, clamped, sizeof edges, cudaMemcpyDeviceToHost);
    for (int y = 0; y < 3; y++)
        for (int x = 0; x < 4; x++) bad += got[4 * y + x] != 10 * y + x || edges[y] != (10 * y + 3) * 10;
    printf("bad=%d error=%d\n", bad, cudaGetLastError());
    beyond<<<1, 1>>>(surface);
    printf("beyond: %d\n", cudaDeviceSynchronize() != cudaSuccess);
    return bad;
}
