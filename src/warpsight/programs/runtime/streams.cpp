// Streams and events. Everything is done at once and in order, so streams need no queues; an event is a point of
// simulated time. A captured stream keeps what would be done as nodes of a graph (graphs.cpp).
#include <algorithm>
#include <set>

#include "graphs.hpp"

namespace stand_in {
namespace {

struct Stream {
    unsigned flags = 0;
    int priority = 0;
    Graph *into = nullptr;  // being captured
};
struct Event {
    double at = 0;
    bool recorded = false, timed = true;
};

std::set<Stream *> streams;
std::set<Event *> events;

Stream *stream_of(cudaStream_t s) {
    auto it = streams.find((Stream *)s);
    return it == streams.end() ? nullptr : *it;
}
bool default_stream(cudaStream_t s) { return s == nullptr || s == cudaStreamLegacy || s == cudaStreamPerThread; }
Event *event_of(cudaEvent_t e) { return events.count((Event *)e) ? (Event *)e : nullptr; }
// Streams that wait for an event of a captured stream are captured too.
std::map<Event *, Graph *> captured_events;

}  // namespace

cudaGraph_t captured_into(cudaStream_t s) {
    const Stream *stream = stream_of(s);
    return stream ? (cudaGraph_t)stream->into : nullptr;
}

bool captured(cudaStream_t s, const Step &step, cudaGraphNodeType type) {
    WS_LOCKED;
    Stream *stream = stream_of(s);
    if (!stream || !stream->into) return false;
    Graph &graph = *stream->into;  // what is captured runs in the order in which it came
    Node &node = add_node(graph, type, step);
    if (graph.nodes.size() > 1) node.after.push_back(graph.nodes[graph.nodes.size() - 2].get());
    return true;
}

Step event_step(cudaEvent_t e) {
    Event *event = event_of(e);
    if (!event) return nullptr;
    return [event] { return event->at = clock_us, event->recorded = true, cudaSuccess; };
}

}  // namespace stand_in

using namespace stand_in;

WS_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t *out, unsigned flags, int priority) {
    WS_LOCKED;
    Stream *s = new Stream;
    s->flags = flags, s->priority = priority;
    streams.insert(s);
    *out = (cudaStream_t)s;
    return cudaSuccess;
}
WS_API cudaError_t cudaStreamCreate(cudaStream_t *out) { return cudaStreamCreateWithPriority(out, 0, 0); }
WS_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned flags) {
    return cudaStreamCreateWithPriority(out, flags, 0);
}
WS_API cudaError_t cudaStreamDestroy(cudaStream_t s) {
    WS_LOCKED;
    return streams.erase((Stream *)s) ? cudaSuccess : fail(cudaErrorInvalidResourceHandle);
}
static cudaError_t known(cudaStream_t s) {
    WS_LOCKED;
    WS_STICKY;
    return default_stream(s) || stream_of(s) ? cudaSuccess : fail(cudaErrorInvalidResourceHandle);
}
WS_API cudaError_t cudaStreamSynchronize(cudaStream_t s) { return known(s); }
WS_API cudaError_t cudaStreamQuery(cudaStream_t s) { return known(s); }
WS_API cudaError_t cudaStreamGetFlags(cudaStream_t s, unsigned *flags) {
    WS_LOCKED;
    *flags = stream_of(s) ? stream_of(s)->flags : 0;
    return known(s);
}
WS_API cudaError_t cudaStreamGetPriority(cudaStream_t s, int *priority) {
    WS_LOCKED;
    *priority = stream_of(s) ? stream_of(s)->priority : 0;
    return known(s);
}
WS_API cudaError_t cudaStreamAddCallback(cudaStream_t s, cudaStreamCallback_t f, void *data, unsigned) {
    f(s, sticky, data);
    return cudaSuccess;
}
WS_API cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned) {
    WS_LOCKED;
    Event *event = event_of(e);
    if (!event) return fail(cudaErrorInvalidResourceHandle);
    auto it = captured_events.find(event);
    if (Stream *stream = stream_of(s); stream && it != captured_events.end() && !stream->into)
        stream->into = it->second;
    return cudaSuccess;
}
WS_API cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
    if (least) *least = 0;
    if (greatest) *greatest = -5;
    return cudaSuccess;
}

WS_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags) {
    WS_LOCKED;
    Event *e = new Event;
    e->timed = !(flags & cudaEventDisableTiming);
    events.insert(e);
    *out = (cudaEvent_t)e;
    return cudaSuccess;
}
WS_API cudaError_t cudaEventCreate(cudaEvent_t *out) { return cudaEventCreateWithFlags(out, 0); }
WS_API cudaError_t cudaEventDestroy(cudaEvent_t e) {
    WS_LOCKED;
    return events.erase((Event *)e) ? cudaSuccess : fail(cudaErrorInvalidResourceHandle);
}
WS_API cudaError_t cudaEventRecordWithFlags(cudaEvent_t e, cudaStream_t s, unsigned flags) {
    WS_LOCKED;
    WS_STICKY;
    const Step record = event_step(e);
    if (!record) return fail(cudaErrorInvalidResourceHandle);
    if (Stream *stream = stream_of(s); stream && stream->into) {  // a mark for streams that wait; a node if asked for
        captured_events[event_of(e)] = stream->into;
        if (flags & cudaEventRecordExternal) captured(s, record, cudaGraphNodeTypeEventRecord);
        return cudaSuccess;
    }
    return record();
}
WS_API cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s) { return cudaEventRecordWithFlags(e, s, 0); }
WS_API cudaError_t cudaEventSynchronize(cudaEvent_t e) {
    WS_LOCKED;
    WS_STICKY;
    return event_of(e) ? cudaSuccess : fail(cudaErrorInvalidResourceHandle);
}
WS_API cudaError_t cudaEventQuery(cudaEvent_t e) { return cudaEventSynchronize(e); }
WS_API cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end) {
    WS_LOCKED;
    WS_STICKY;
    Event *a = event_of(start), *b = event_of(end);
    if (!a || !b || !a->recorded || !b->recorded || !a->timed || !b->timed) return fail(cudaErrorInvalidResourceHandle);
    *ms = (float)((b->at - a->at) / 1000.0);
    return cudaSuccess;
}

// ---- capture

WS_API cudaError_t cudaStreamBeginCapture(cudaStream_t s, cudaStreamCaptureMode) {
    WS_LOCKED;
    Stream *stream = stream_of(s);
    if (!stream || stream->into) return fail(cudaErrorStreamCaptureUnsupported);
    stream->into = new_graph();
    return cudaSuccess;
}
WS_API cudaError_t cudaStreamEndCapture(cudaStream_t s, cudaGraph_t *out) {
    WS_LOCKED;
    Stream *stream = stream_of(s);
    if (!stream || !stream->into) return fail(cudaErrorIllegalState);
    Graph *graph = stream->into;
    for (Stream *other : streams)
        if (other->into == graph) other->into = nullptr;
    for (auto it = captured_events.begin(); it != captured_events.end();)
        it = it->second == graph ? captured_events.erase(it) : std::next(it);
    *out = (cudaGraph_t)graph;
    return cudaSuccess;
}
WS_API cudaError_t cudaStreamIsCapturing(cudaStream_t s, cudaStreamCaptureStatus *out) {
    WS_LOCKED;
    Stream *stream = stream_of(s);
    *out = stream && stream->into ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    return cudaSuccess;
}
