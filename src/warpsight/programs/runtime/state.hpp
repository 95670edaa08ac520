// What all parts of the stand-in CUDA runtime share: the lock, the channel to the virtual GPU, device memory, modules,
// the simulated clock, and how errors are kept. The library runs inside the untrusted program: nothing here protects
// anybody. The other side checks whatever comes over the channel (programs/messages.py has the same numbers).
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#define WS_API extern "C" __attribute__((visibility("default")))
#define WS_SHARED __attribute__((visibility("default")))  // for the libraries beside this one (libraries/)

namespace stand_in {

using u64 = uint64_t;
using u32 = uint32_t;

constexpr u64 kBase = 0x200000000ull;  // where the core's global memory begins, and device memory here
constexpr u64 kGap = 256;              // between allocations, so that running past one is seen

enum class Op : u32 {
    hello = 1,
    module,
    allocate,
    release,
    copy,
    kernel,
    launch,
    occupancy,
    missing,
    forget,
    library,
    look
};

// A message: an operation, the length of the body, then numbers of eight bytes and texts with their length before.
class Message {
  public:
    explicit Message(Op op) : op_(op) {}
    Message &add(u64 v) { return body_.append((const char *)&v, 8), *this; }
    Message &add(const void *p, u64 n) { return add(n), body_.append((const char *)p, n), *this; }
    Message &add(const std::string &s) { return add(s.data(), s.size()); }
    void post() const;         // no answer is expected
    class Answer ask() const;  // waits for the answer
  private:
    Op op_;
    std::string body_;
};

class Answer {
  public:
    explicit Answer(std::string body) : body_(std::move(body)) {}
    u64 number();
    std::string text();

  private:
    std::string body_;
    size_t at_ = 0;
};

// The numbers of the chosen GPU, as the other side tells them at the start.
struct Device {
    std::string name;
    u64 arena_bytes, total_bytes, major, minor, sms, clock_khz, memory_clock_khz, bus_bits, l2_bytes;
    u64 threads_per_sm, blocks_per_sm, registers_per_sm, registers_per_block, shared_per_block, shared_optin;
    u64 shared_per_sm, shared_reserved, threads_per_block;
    u64 link_bytes_per_us, link_ns, dram_bytes_per_us, copy_ns;
};

struct Parameter {
    u64 offset, size;
};

struct Kernel {
    u64 module = 0;
    std::string name;
    bool known = false;
    std::string problem;
    std::vector<Parameter> parameters;
    u64 parameter_bytes = 0, registers = 0, shared = 0, local = 0, constant = 0, max_threads = 1024;
    u64 dynamic_limit = 48 << 10;
};

struct Variable {
    u64 address, size;
    std::string name;
    bool constant;
    void **managed;
};

struct Module {
    u64 id = 0;
    std::string image;  // what nvcc put into the program: PTX and machine code, compressed or not
    std::vector<Variable> variables;
    bool sent = false;
    std::map<std::string, Kernel *> kernels;  // of an image that the program loaded itself
};

enum class Kind : u64 { device, host, managed, variable };  // of an allocation

extern WS_SHARED std::recursive_mutex lock;
extern double clock_us;  // simulated time since the start
extern cudaError_t sticky;

WS_SHARED const Device &device();  // starts the channel when first asked for
cudaError_t fail(cudaError_t);     // remembers an error for cudaGetLastError, and hands it back
WS_SHARED cudaGraph_t captured_into(cudaStream_t);  // the graph that a stream is captured into, where it is
WS_SHARED cudaError_t not_provided(const char *name, const char *why = "");
WS_SHARED void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

u64 allocate(u64 bytes, Kind, u64 alignment = 512);  // 0: no room
bool allocate_at(u64 at, u64 bytes, Kind);           // where it was before; false: no room there
bool release(u64 address);
WS_SHARED bool on_device(const void *);
WS_SHARED bool whole(const void *,
                     u64 bytes);  // a range of device memory that lies in one allocation; true for host memory
WS_SHARED bool find_allocation(const void *, u64 *base, u64 *bytes, Kind *);
WS_SHARED u64 used_bytes();

using Step = std::function<cudaError_t()>;  // what is done later, or again

Kernel *kernel_of(const void *function);
Variable *variable_of(const void *symbol);
// An image that the program loads while it runs; `why` is what is wrong with it. Its kernels are known by their
// address.
WS_SHARED cudaError_t load_image(std::string image, Module **, std::string *why);
WS_SHARED Module *module_of(const Kernel *);
cudaError_t learn(Kernel *);
cudaError_t prepare(Kernel *, dim3 grid, dim3 block, void **arguments, size_t shared, bool cooperative, Step *);
cudaError_t launch(Kernel *, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t, bool cooperative);
cudaError_t copy_bytes(void *to, const void *from, size_t, cudaMemcpyKind);
cudaError_t copy_rows(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t row, size_t rows,
                      cudaMemcpyKind);
cudaError_t fill_bytes(void *to, int value, size_t);
void note_copy(const void *to, const void *from, u64 bytes, u64 row, u64 rows, u64 to_pitch, u64 from_pitch);

// Graphs: while a stream is captured, what would be done is kept instead. True: it was kept.
Step again_step(u64 at, u64 bytes);  // memory of a graph, there again
WS_SHARED bool captured(cudaStream_t, const Step &, cudaGraphNodeType = cudaGraphNodeTypeHost);

// Libraries: what one call of theirs did, for the account and the simulated clock. `kind` is that of its arithmetic.
enum class Arithmetic : u64 { f32, f64, tensor_f16, tensor_bf16, tensor_tf32, tensor_s8, tensor_f64 };
WS_SHARED void library_call(const char *name, double flops, double bytes, Arithmetic);
WS_SHARED void note_written(const void *to, u64 row, u64 rows, u64 pitch);
WS_SHARED bool host_memory(const void *);  // memory that a GPU cannot reach
WS_SHARED cudaError_t state_of_device();   // the error that stays, or none

inline u64 round_up(u64 v, u64 a) { return (v + a - 1) / a * a; }

}  // namespace stand_in

#define WS_LOCKED std::lock_guard<std::recursive_mutex> held(stand_in::lock)
#define WS_STICKY \
    if (stand_in::sticky != cudaSuccess) return stand_in::fail(stand_in::sticky)
