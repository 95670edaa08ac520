// Graphs: nodes, each with what it does and what must be done before. Nothing here runs at the same time as anything
// else.
#pragma once
#include <memory>

#include "state.hpp"

namespace stand_in {

struct Node {
    cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
    Step step;
    std::vector<Node *> after;
    Node *origin = nullptr;  // of a copy: what it was copied from
    // Of a kernel's node, for those who ask for it again: its arguments are kept, in memory that does not move.
    cudaKernelNodeParams kernel = {};
    std::shared_ptr<std::vector<std::string>> values;
    std::shared_ptr<std::vector<void *>> pointers;
};

struct Graph {
    std::vector<std::unique_ptr<Node>> nodes;
};

Graph *new_graph();
Node &add_node(Graph &, cudaGraphNodeType, const Step &);
Step event_step(cudaEvent_t);  // recording an event; empty for one that is not there

}  // namespace stand_in
