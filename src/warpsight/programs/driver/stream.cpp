// Streams, events and captured graphs, by the runtime's own, which have the same handles.
#include "driver.hpp"

using namespace driver;

WS_API CUresult cuStreamCreate(CUstream *out, unsigned flags) {
    WS_STARTED;
    return result(cudaStreamCreateWithFlags(out, flags));
}
WS_API CUresult cuStreamCreateWithPriority(CUstream *out, unsigned flags, int priority) {
    WS_STARTED;
    return result(cudaStreamCreateWithPriority(out, flags, priority));
}
WS_API CUresult cuStreamDestroy(CUstream s) { return result(cudaStreamDestroy(s)); }
WS_API CUresult cuStreamSynchronize(CUstream s) { return result(cudaStreamSynchronize(s)); }
WS_API CUresult cuStreamQuery(CUstream s) { return result(cudaStreamQuery(s)); }
WS_API CUresult cuStreamGetFlags(CUstream s, unsigned *flags) { return result(cudaStreamGetFlags(s, flags)); }
WS_API CUresult cuStreamGetPriority(CUstream s, int *priority) { return result(cudaStreamGetPriority(s, priority)); }
WS_API CUresult cuStreamGetId(CUstream s, unsigned long long *id) { return *id = (unsigned long long)s, CUDA_SUCCESS; }
WS_API CUresult cuStreamGetDevice(CUstream, CUdevice *out) { return *out = 0, CUDA_SUCCESS; }
static CUresult context_of_all(CUcontext *out) {
    if (CUresult e = cuCtxGetCurrent(out); e || *out) return e;
    if (CUresult e = cuDevicePrimaryCtxRetain(out, 0)) return e;
    return cuDevicePrimaryCtxRelease(0);
}
WS_API CUresult cuStreamGetCtx(CUstream, CUcontext *out) { return context_of_all(out); }
WS_API CUresult cuStreamGetCtx_v2(CUstream, CUcontext *out, CUgreenCtx *green) {
    if (green) *green = nullptr;
    return context_of_all(out);
}
WS_API CUresult cuStreamWaitEvent(CUstream s, CUevent e, unsigned flags) {
    return result(cudaStreamWaitEvent(s, e, flags));
}
WS_API CUresult cuStreamAddCallback(CUstream s, CUstreamCallback f, void *data, unsigned) {
    return f(s, result(stand_in::state_of_device()), data), CUDA_SUCCESS;
}
WS_API CUresult cuStreamAttachMemAsync(CUstream, CUdeviceptr, size_t, unsigned) { return CUDA_SUCCESS; }

WS_API CUresult cuEventCreate(CUevent *out, unsigned flags) {
    WS_STARTED;
    return result(cudaEventCreateWithFlags(out, flags));
}
WS_API CUresult cuEventDestroy(CUevent e) { return result(cudaEventDestroy(e)); }
WS_API CUresult cuEventRecord(CUevent e, CUstream s) { return result(cudaEventRecord(e, s)); }
WS_API CUresult cuEventRecordWithFlags(CUevent e, CUstream s, unsigned) { return result(cudaEventRecord(e, s)); }
WS_API CUresult cuEventSynchronize(CUevent e) { return result(cudaEventSynchronize(e)); }
WS_API CUresult cuEventQuery(CUevent e) { return result(cudaEventQuery(e)); }
WS_API CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent end) {
    return result(cudaEventElapsedTime(ms, start, end));
}

WS_API CUresult cuStreamBeginCapture(CUstream s, CUstreamCaptureMode) {
    return result(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
}
WS_API CUresult cuStreamEndCapture(CUstream s, CUgraph *out) { return result(cudaStreamEndCapture(s, out)); }
WS_API CUresult cuStreamIsCapturing(CUstream s, CUstreamCaptureStatus *out) {
    return result(cudaStreamIsCapturing(s, (cudaStreamCaptureStatus *)out));
}
WS_API CUresult cuStreamGetCaptureInfo(CUstream s, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
                                       const CUgraphNode **nodes, const CUgraphEdgeData **edges, size_t *count) {
    if (CUresult e = cuStreamIsCapturing(s, status)) return e;
    if (*status != CU_STREAM_CAPTURE_STATUS_NONE && graph) *graph = stand_in::captured_into(s);
    if (nodes) *nodes = nullptr;  // what the next node follows is kept by the stream itself
    if (id) *id = (cuuint64_t)s;
    if (edges) *edges = nullptr;
    if (count) *count = 0;
    return CUDA_SUCCESS;
}
WS_API CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *) { return CUDA_SUCCESS; }
WS_API CUresult cuGraphInstantiate(CUgraphExec *out, CUgraph g, unsigned long long flags) {
    return result(cudaGraphInstantiateWithFlags(out, g, flags));
}
WS_API CUresult cuGraphInstantiateWithParams(CUgraphExec *out, CUgraph g, CUDA_GRAPH_INSTANTIATE_PARAMS *params) {
    params->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
    return result(cudaGraphInstantiateWithFlags(out, g, 0));
}
WS_API CUresult cuGraphUpload(CUgraphExec, CUstream) { return CUDA_SUCCESS; }
WS_API CUresult cuGraphLaunch(CUgraphExec g, CUstream s) { return result(cudaGraphLaunch(g, s)); }
WS_API CUresult cuGraphDestroy(CUgraph g) { return result(cudaGraphDestroy(g)); }
WS_API CUresult cuGraphExecDestroy(CUgraphExec g) { return result(cudaGraphExecDestroy(g)); }
