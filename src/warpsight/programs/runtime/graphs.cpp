// Graphs, of captured streams or built node by node. An executable graph is a copy; its nodes run one after the other,
// each after those that it waits for, in the order in which they were added. Not here: conditional nodes, and memory
// nodes give their memory once, for as long as the program runs.
#include "graphs.hpp"

#include <algorithm>
#include <cstring>
#include <set>

namespace stand_in {
namespace {

std::set<Graph *> graphs, executables;

Graph *graph_of(cudaGraph_t g) { return graphs.count((Graph *)g) ? (Graph *)g : nullptr; }
Graph *executable_of(cudaGraphExec_t g) { return executables.count((Graph *)g) ? (Graph *)g : nullptr; }

Node *node_of(const Graph *graph, cudaGraphNode_t node) {
    for (const auto &one : graph->nodes)
        if (one.get() == (Node *)node) return one.get();
    return nullptr;
}

Node *copy_of(const Graph *graph, cudaGraphNode_t origin) {
    for (const auto &one : graph->nodes)
        if (one->origin == (Node *)origin) return one.get();
    return nullptr;
}

Graph *copied(const Graph &from) {
    Graph *made = new Graph;
    std::map<const Node *, Node *> places;
    for (const auto &one : from.nodes) {
        made->nodes.push_back(std::make_unique<Node>(*one));
        made->nodes.back()->origin = one.get();
        places[one.get()] = made->nodes.back().get();
    }
    for (const auto &one : made->nodes)
        for (Node *&before : one->after) before = places.at(before);
    return made;
}

// Nodes so that each comes after those it waits for; fewer than there are where they wait for one another.
std::vector<Node *> in_order(const Graph &graph) {
    std::vector<Node *> order;
    std::set<const Node *> done;
    for (bool more = true; more;) {
        more = false;
        for (const auto &one : graph.nodes) {
            const bool ready =
                std::all_of(one->after.begin(), one->after.end(), [&](Node *n) { return done.count(n); });
            if (done.count(one.get()) || !ready) continue;
            done.insert(one.get()), order.push_back(one.get()), more = true;
        }
    }
    return order;
}

cudaError_t run(const Graph &graph) {
    for (const Node *node : in_order(graph))
        if (node->step)
            if (cudaError_t e = node->step()) return e;
    return cudaSuccess;
}

cudaError_t add(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *after, size_t count, cudaGraphNodeType type,
                const Step &step) {
    Graph *graph = graph_of(g);
    if (!graph || !out || (count && !after)) return fail(cudaErrorInvalidValue);
    for (size_t i = 0; i < count; i++)
        if (!node_of(graph, after[i])) return fail(cudaErrorInvalidValue);
    Node &node = add_node(*graph, type, step);
    for (size_t i = 0; i < count; i++) node.after.push_back((Node *)after[i]);
    *out = (cudaGraphNode_t)&node;
    return cudaSuccess;
}

cudaError_t set_kernel(Node &node, const cudaKernelNodeParams &p) {
    if (p.extra) return not_provided("cudaGraphAddKernelNode", "arguments in the form of `extra`");
    Kernel *k = kernel_of(p.func);
    Step step;
    if (cudaError_t e = prepare(k, p.gridDim, p.blockDim, p.kernelParams, p.sharedMemBytes, false, &step)) return e;
    auto values = std::make_shared<std::vector<std::string>>();
    for (size_t i = 0; i < k->parameters.size(); i++)
        values->emplace_back((const char *)p.kernelParams[i], k->parameters[i].size);
    auto pointers = std::make_shared<std::vector<void *>>();
    for (std::string &value : *values) pointers->push_back(value.data());
    node.step = step, node.kernel = p, node.values = values, node.pointers = pointers;
    node.kernel.kernelParams = pointers->data();
    return cudaSuccess;
}

Step copy_step(const cudaMemcpy3DParms &p) {
    return [p] { return cudaMemcpy3D(&p); };
}
Step copy_step(void *to, const void *from, size_t n, cudaMemcpyKind kind) {
    return [=] { return copy_bytes(to, from, n, kind); };
}
Step host_step(const cudaHostNodeParams &p) {
    return [p] { return p.fn(p.userData), cudaSuccess; };
}
Step fill_step(const cudaMemsetParams &p) {
    return [p]() -> cudaError_t {
        if (p.elementSize == 1 || !p.value)
            return cudaMemset2D(p.dst, p.pitch, (int)p.value, p.width * p.elementSize, p.height);
        std::string row;
        for (size_t i = 0; i < p.width; i++) row.append((const char *)&p.value, p.elementSize);
        for (size_t y = 0; y < p.height; y++)
            if (cudaError_t e = copy_bytes((char *)p.dst + y * p.pitch, row.data(), row.size(), cudaMemcpyHostToDevice))
                return e;
        return cudaSuccess;
    };
}

cudaError_t list(cudaGraphNode_t *out, size_t *count, const std::vector<Node *> &found) {
    if (out)
        for (size_t i = 0; i < *count; i++) out[i] = (cudaGraphNode_t)(i < found.size() ? found[i] : nullptr);
    *count = out ? std::min(*count, found.size()) : found.size();
    return cudaSuccess;
}

// The same kinds of nodes, waiting for the same ones, in the same order.
bool same_shape(const Graph &a, const Graph &b) {
    if (a.nodes.size() != b.nodes.size()) return false;
    auto place = [](const Graph &g, const Node *n) {
        return std::find_if(g.nodes.begin(), g.nodes.end(), [&](const auto &one) { return one.get() == n; }) -
               g.nodes.begin();
    };
    for (size_t i = 0; i < a.nodes.size(); i++) {
        const Node &x = *a.nodes[i], &y = *b.nodes[i];
        if (x.type != y.type || x.after.size() != y.after.size()) return false;
        for (size_t k = 0; k < x.after.size(); k++)
            if (place(a, x.after[k]) != place(b, y.after[k])) return false;
    }
    return true;
}

}  // namespace

Graph *new_graph() { return *graphs.insert(new Graph).first; }

Node &add_node(Graph &graph, cudaGraphNodeType type, const Step &step) {
    graph.nodes.push_back(std::make_unique<Node>());
    Node &node = *graph.nodes.back();
    node.type = type, node.step = step;
    return node;
}

}  // namespace stand_in

using namespace stand_in;
#define ADDED cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *after, size_t count

WS_API cudaError_t cudaGraphCreate(cudaGraph_t *out, unsigned) {
    WS_LOCKED;
    return *out = (cudaGraph_t)new_graph(), cudaSuccess;
}
WS_API cudaError_t cudaGraphDestroy(cudaGraph_t g) {
    WS_LOCKED;
    return graphs.erase((Graph *)g) ? cudaSuccess : fail(cudaErrorInvalidValue);
}
WS_API cudaError_t cudaGraphClone(cudaGraph_t *out, cudaGraph_t g) {
    WS_LOCKED;
    if (!graph_of(g)) return fail(cudaErrorInvalidValue);
    *out = (cudaGraph_t)*graphs.insert(copied(*graph_of(g))).first;
    return cudaSuccess;
}
WS_API cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *out, cudaGraphNode_t origin, cudaGraph_t clone) {
    WS_LOCKED;
    *out = graph_of(clone) ? (cudaGraphNode_t)copy_of(graph_of(clone), origin) : nullptr;
    return *out ? cudaSuccess : fail(cudaErrorInvalidValue);
}
WS_API cudaError_t cudaGraphAddKernelNode(ADDED, const cudaKernelNodeParams *p) {
    WS_LOCKED;
    Node made;
    if (cudaError_t e = set_kernel(made, *p)) return e;
    if (cudaError_t e = add(out, g, after, count, cudaGraphNodeTypeKernel, nullptr)) return e;
    return set_kernel(*(Node *)*out, *p);
}
WS_API cudaError_t cudaGraphAddMemcpyNode(ADDED, const cudaMemcpy3DParms *p) {
    WS_LOCKED;
    return add(out, g, after, count, cudaGraphNodeTypeMemcpy, copy_step(*p));
}
WS_API cudaError_t cudaGraphAddMemcpyNode1D(ADDED, void *to, const void *from, size_t n, cudaMemcpyKind kind) {
    WS_LOCKED;
    return add(out, g, after, count, cudaGraphNodeTypeMemcpy, copy_step(to, from, n, kind));
}
WS_API cudaError_t cudaGraphAddMemsetNode(ADDED, const cudaMemsetParams *p) {
    WS_LOCKED;
    return add(out, g, after, count, cudaGraphNodeTypeMemset, fill_step(*p));
}
WS_API cudaError_t cudaGraphAddHostNode(ADDED, const cudaHostNodeParams *p) {
    WS_LOCKED;
    return add(out, g, after, count, cudaGraphNodeTypeHost, host_step(*p));
}
WS_API cudaError_t cudaGraphAddEmptyNode(ADDED) {
    WS_LOCKED;
    return add(out, g, after, count, cudaGraphNodeTypeEmpty, nullptr);
}
WS_API cudaError_t cudaGraphAddChildGraphNode(ADDED, cudaGraph_t child) {
    WS_LOCKED;
    if (!graph_of(child)) return fail(cudaErrorInvalidValue);
    std::shared_ptr<Graph> kept(copied(*graph_of(child)));
    return add(out, g, after, count, cudaGraphNodeTypeGraph, [kept] { return run(*kept); });
}
WS_API cudaError_t cudaGraphAddEventRecordNode(ADDED, cudaEvent_t event) {
    WS_LOCKED;
    const Step step = event_step(event);
    return step ? add(out, g, after, count, cudaGraphNodeTypeEventRecord, step) : fail(cudaErrorInvalidValue);
}
WS_API cudaError_t cudaGraphAddEventWaitNode(ADDED, cudaEvent_t) {
    WS_LOCKED;
    return add(out, g, after, count, cudaGraphNodeTypeWaitEvent, nullptr);
}
WS_API cudaError_t cudaGraphAddMemAllocNode(ADDED, cudaMemAllocNodeParams *p) {
    WS_LOCKED;
    if (cudaError_t e = cudaMalloc(&p->dptr, p->bytesize)) return e;
    return add(out, g, after, count, cudaGraphNodeTypeMemAlloc, again_step((u64)p->dptr, p->bytesize));
}
WS_API cudaError_t cudaGraphAddMemFreeNode(ADDED, void *) {
    WS_LOCKED;
    return add(out, g, after, count, cudaGraphNodeTypeMemFree, nullptr);
}
WS_API cudaError_t cudaGraphAddDependencies(cudaGraph_t g, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                            const cudaGraphEdgeData *, size_t count) {
    WS_LOCKED;
    Graph *graph = graph_of(g);
    for (size_t i = 0; i < count; i++)
        if (!graph || !node_of(graph, from[i]) || !node_of(graph, to[i])) return fail(cudaErrorInvalidValue);
    for (size_t i = 0; i < count; i++) ((Node *)to[i])->after.push_back((Node *)from[i]);
    return cudaSuccess;
}

WS_API cudaError_t cudaGraphGetNodes(cudaGraph_t g, cudaGraphNode_t *nodes, size_t *count) {
    WS_LOCKED;
    if (!graph_of(g)) return fail(cudaErrorInvalidValue);
    return list(nodes, count, in_order(*graph_of(g)));
}
WS_API cudaError_t cudaGraphGetRootNodes(cudaGraph_t g, cudaGraphNode_t *nodes, size_t *count) {
    WS_LOCKED;
    if (!graph_of(g)) return fail(cudaErrorInvalidValue);
    std::vector<Node *> roots;
    for (const auto &one : graph_of(g)->nodes)
        if (one->after.empty()) roots.push_back(one.get());
    return list(nodes, count, roots);
}
WS_API cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType *type) {
    WS_LOCKED;
    return *type = ((Node *)node)->type, cudaSuccess;
}
WS_API cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams *p) {
    WS_LOCKED;
    if (!((Node *)node)->pointers) return not_provided("cudaGraphKernelNodeGetParams", "of a captured launch");
    return *p = ((Node *)node)->kernel, cudaSuccess;
}
WS_API cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams *p) {
    WS_LOCKED;
    return set_kernel(*(Node *)node, *p);
}

static cudaError_t instantiate(cudaGraphExec_t *out, cudaGraph_t g) {
    WS_LOCKED;
    const Graph *graph = graph_of(g);
    if (!graph || in_order(*graph).size() != graph->nodes.size()) return fail(cudaErrorInvalidValue);
    *out = (cudaGraphExec_t)*executables.insert(copied(*graph)).first;
    return cudaSuccess;
}
WS_API cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t g, unsigned long long) {
    return instantiate(out, g);
}
WS_API cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *out, cudaGraph_t g, unsigned long long) {
    return instantiate(out, g);
}
WS_API cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return cudaSuccess; }
WS_API cudaError_t cudaGraphLaunch(cudaGraphExec_t g, cudaStream_t s) {
    WS_LOCKED;
    WS_STICKY;
    Graph *graph = executable_of(g);
    if (!graph) return fail(cudaErrorInvalidValue);
    if (captured(s, [graph] { return run(*graph); }, cudaGraphNodeTypeGraph)) return cudaSuccess;
    const cudaError_t error = run(*graph);
    return error ? fail(error) : cudaSuccess;
}
WS_API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t g) {
    WS_LOCKED;
    return executables.erase((Graph *)g) ? cudaSuccess : fail(cudaErrorInvalidValue);
}

// Changes of an executable graph: a node is named by that of the graph it was made of.
static cudaError_t change(cudaGraphExec_t g, cudaGraphNode_t node, const Step &step) {
    WS_LOCKED;
    Node *found = executable_of(g) ? copy_of(executable_of(g), node) : nullptr;
    if (!found) return fail(cudaErrorInvalidValue);
    return found->step = step, cudaSuccess;
}
WS_API cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t g, cudaGraphNode_t node,
                                                    const cudaKernelNodeParams *p) {
    WS_LOCKED;
    Node *found = executable_of(g) ? copy_of(executable_of(g), node) : nullptr;
    return found ? set_kernel(*found, *p) : fail(cudaErrorInvalidValue);
}
WS_API cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t g, cudaGraphNode_t n, const cudaMemcpy3DParms *p) {
    return change(g, n, copy_step(*p));
}
WS_API cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t g, cudaGraphNode_t n, void *to, const void *from,
                                                      size_t bytes, cudaMemcpyKind kind) {
    return change(g, n, copy_step(to, from, bytes, kind));
}
WS_API cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t g, cudaGraphNode_t n, const cudaMemsetParams *p) {
    return change(g, n, fill_step(*p));
}
WS_API cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t g, cudaGraphNode_t n, const cudaHostNodeParams *p) {
    return change(g, n, host_step(*p));
}
WS_API cudaError_t cudaGraphExecUpdate(cudaGraphExec_t e, cudaGraph_t g, cudaGraphExecUpdateResultInfo *told) {
    WS_LOCKED;
    Graph *ready = executable_of(e), *graph = graph_of(g);
    if (!ready || !graph) return fail(cudaErrorInvalidValue);
    const bool same = same_shape(*ready, *graph);
    if (told) {
        memset(told, 0, sizeof *told);
        told->result = same ? cudaGraphExecUpdateSuccess : cudaGraphExecUpdateErrorTopologyChanged;
    }
    if (!same) return fail(cudaErrorGraphExecUpdateFailure);
    for (size_t i = 0; i < graph->nodes.size(); i++) {
        Node &to = *ready->nodes[i];
        const Node &from = *graph->nodes[i];
        to.step = from.step, to.kernel = from.kernel, to.values = from.values, to.pointers = from.pointers;
    }
    return cudaSuccess;
}
