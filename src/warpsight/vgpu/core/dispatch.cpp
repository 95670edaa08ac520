// The block scheduler of the GPU; sm.hpp says what it does.
#include <algorithm>
#include <queue>
#include <tuple>

#include "sm.hpp"

namespace warpsight {

std::vector<u32> dispatch(const double *clocks, u64 blocks, u32 multiprocessors, u32 resident) {
    using Place = std::tuple<double, u64, u32>;  // free at; order among equals; multiprocessor
    std::vector<Place> places;
    const u64 wanted = std::min<u64>((u64)multiprocessors * resident, blocks);
    for (u64 i = 0; i < wanted; i++) places.emplace_back(0.0, i, (u32)(i % multiprocessors));  // breadth first
    std::priority_queue<Place, std::vector<Place>, std::greater<>> free(std::greater<>{}, std::move(places));
    std::vector<u32> where(blocks);
    for (u64 i = 0; i < blocks; i++) {
        auto [when, order, sm] = free.top();
        free.pop();
        where[i] = sm;
        free.emplace(when + clocks[i] * resident, wanted + i, sm);
    }
    return where;
}

}  // namespace warpsight
