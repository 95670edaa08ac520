// The channel to the virtual GPU: an inherited socket and an inherited file of device memory, mapped at a fixed place;
// or both from a socket with a name, where several processes use a virtual GPU each (WARPSIGHT_CHANNEL is then its
// path).
#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "state.hpp"

namespace stand_in {

WS_SHARED std::recursive_mutex lock;
double clock_us = 0;

namespace {
int channel = -1;

[[noreturn]] void end_program(const char *why) {
    fflush(stdout);
    say("%s", why);
    _exit(97);
}

void write_all(const char *p, size_t n) {
    while (n) {
        const ssize_t done = write(channel, p, n);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) end_program("the virtual GPU has gone");
        p += done, n -= (size_t)done;
    }
}

void read_all(char *p, size_t n) {
    while (n) {
        const ssize_t done = read(channel, p, n);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) end_program("the virtual GPU has gone");
        p += done, n -= (size_t)done;
    }
}

const char *setting(const char *name) {
    const char *text = getenv(name);
    if (!text) end_program("this program is linked with Warpsight's runtime: start it with `warpsight run -- PROGRAM`");
    return text;
}

// Whoever listens there sends the descriptor of device memory first. Returns it.
int connect_to(const char *path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (strlen(path) >= sizeof address.sun_path) end_program("the name of the virtual GPU's socket is too long");
    strcpy(address.sun_path, path);
    channel = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (channel < 0 || connect(channel, (sockaddr *)&address, sizeof address))
        end_program("no virtual GPU listens at the socket that WARPSIGHT_CHANNEL names");
    char byte;
    alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))];
    iovec data{&byte, 1};
    msghdr message{};
    message.msg_iov = &data, message.msg_iovlen = 1, message.msg_control = room, message.msg_controllen = sizeof room;
    if (recvmsg(channel, &message, MSG_CMSG_CLOEXEC) != 1) end_program("the virtual GPU has gone");
    const cmsghdr *part = CMSG_FIRSTHDR(&message);
    if (!part || part->cmsg_type != SCM_RIGHTS) end_program("the virtual GPU did not send its memory");
    int memory;
    memcpy(&memory, CMSG_DATA(part), sizeof memory);
    return memory;
}

Device read_device() {
    const char *where = setting("WARPSIGHT_CHANNEL");
    int memory;
    if (*where == '/')
        memory = connect_to(where);
    else
        channel = atoi(where), memory = atoi(setting("WARPSIGHT_MEMORY"));
    pthread_atfork(nullptr, nullptr, [] { channel = -1; });  // as with CUDA, a forked process has no GPU
    Answer a = Message(Op::hello).add(1).ask();
    Device d;
    d.name = a.text();
    for (u64 *v : {&d.arena_bytes,
                   &d.total_bytes,
                   &d.major,
                   &d.minor,
                   &d.sms,
                   &d.clock_khz,
                   &d.memory_clock_khz,
                   &d.bus_bits,
                   &d.l2_bytes,
                   &d.threads_per_sm,
                   &d.blocks_per_sm,
                   &d.registers_per_sm,
                   &d.registers_per_block,
                   &d.shared_per_block,
                   &d.shared_optin,
                   &d.shared_per_sm,
                   &d.shared_reserved,
                   &d.threads_per_block,
                   &d.link_bytes_per_us,
                   &d.link_ns,
                   &d.dram_bytes_per_us,
                   &d.copy_ns})
        *v = a.number();
    void *at = mmap((void *)kBase, d.arena_bytes, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_FIXED_NOREPLACE | MAP_NORESERVE, memory, 0);
    if (at == MAP_FAILED && errno == ENOMEM)
        end_program("no room is left for device memory: the program holds too much host memory");
    if (at != (void *)kBase) end_program("cannot map device memory: the program uses its addresses for something else");
    return d;
}
}  // namespace

const Device &device() {
    static const Device d = read_device();
    return d;
}

void Message::post() const {
    if (channel < 0) end_program("a forked process has no GPU: use it in the process that used it first");
    const u32 head[2] = {(u32)op_, (u32)body_.size()};
    std::string all((const char *)head, sizeof head);
    all += body_;
    write_all(all.data(), all.size());
}

Answer Message::ask() const {
    post();
    u32 n;
    read_all((char *)&n, sizeof n);
    std::string body(n, 0);
    read_all(body.data(), n);
    return Answer(std::move(body));
}

u64 Answer::number() {
    u64 v;
    if (at_ + 8 > body_.size()) end_program("the virtual GPU gave an answer that is too short");
    memcpy(&v, body_.data() + at_, 8);
    at_ += 8;
    return v;
}

std::string Answer::text() {
    const u64 n = number();
    if (n > body_.size() - at_) end_program("the virtual GPU gave an answer that is too short");
    at_ += n;
    return body_.substr(at_ - n, n);
}

void say(const char *format, ...) {
    va_list rest;
    va_start(rest, format);
    fputs("warpsight: ", stderr);
    vfprintf(stderr, format, rest);
    fputc('\n', stderr);
    va_end(rest);
}

}  // namespace stand_in

// Output is passed on line by line, so that what the program and its kernels print keeps its order.
__attribute__((constructor)) static void by_line() { setvbuf(stdout, nullptr, _IOLBF, 1 << 16); }
