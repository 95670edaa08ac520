// A program that is no friend: it speaks to the channel (6) and to device memory (7) itself, or tries to get out.
#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

using u64 = uint64_t;
using u32 = uint32_t;
static const u64 kBase = 0x200000000ull;

static void raw(const void *p, size_t n) {
    if (write(6, p, n) != (ssize_t)n) _exit(3);
}
static void message(u32 op, const std::vector<u64> &numbers) {
    const u32 head[2] = {op, (u32)(numbers.size() * 8)};
    raw(head, 8), raw(numbers.data(), numbers.size() * 8);
}
static void name_message(u32 op, u64 module, const std::string &name, const std::vector<u64> &rest) {
    std::string body((const char *)&module, 8);
    const u64 n = name.size();
    body.append((const char *)&n, 8).append(name);
    body.append((const char *)rest.data(), rest.size() * 8);
    const u32 head[2] = {op, (u32)body.size()};
    raw(head, 8), raw(body.data(), body.size());
}
static int wait_for_the_end() {
    char c;
    while (read(6, &c, 1) > 0) {
    }
    puts("the channel was closed");
    return 0;
}
static void show(const char *what, bool done) { printf("%s: %s\n", what, done ? "DONE" : "refused"); }

int main(int argc, char **argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    if (what == "operation") message(77, {1});
    if (what == "announce") {
        const u32 head[2] = {2, 0xffffffffu};
        raw(head, 8);
    }
    if (what == "half") {
        const u32 head[2] = {3, 24};
        raw(head, 8), raw("abc", 3);
        return 5;
    }
    if (what == "outside") message(3, {kBase - 4096, 64, 0});
    if (what == "beyond") message(3, {kBase, 1ull << 60, 0});
    if (what == "wrap") message(3, {~0ull - 10, 64, 0});
    if (what == "overlap") message(3, {kBase, 4096, 0}), message(3, {kBase + 100, 4096, 0});
    if (what == "kind") message(3, {kBase, 4096, 9});
    if (what == "release") message(4, {kBase + 77});
    if (what == "left over") message(3, {kBase, 4096, 0, 1});
    if (what == "copy") message(5, {kBase, kBase, 3, ~0ull, ~0ull, 1, 1});
    if (what == "module") name_message(6, 5, "k", {});
    if (what == "name") name_message(6, 0, std::string("\x1b[2J\n"), {});
    if (what == "launch") name_message(7, 0, "k", {1, 1, 1, 1, 1, 1, 0, 0, 0});
    if (what == "library") {
        std::string body;
        for (const u64 v : {(u64)1, (u64)'f', (u64)1, (u64)1, ~(u64)0}) body.append((const char *)&v, v == 'f' ? 1 : 8);
        const u32 head[2] = {11, (u32)body.size()};
        raw(head, 8), raw(body.data(), body.size());
    }
    if (what == "flood") {
        for (u64 i = 0; i < 300000; i++) message(3, {kBase + i * 4096, 8, 0});
    }
    if (what == "shrink") {
        signal(SIGXFSZ, SIG_IGN);
        show("shrink", ftruncate(7, 4096) == 0);
        show("grow", ftruncate(7, 1ull << 40) == 0);
        struct stat s;
        fstat(7, &s);
        printf("bytes: %s\n", s.st_size > (1ll << 30) ? "all there" : "gone");
        char *p = (char *)mmap((void *)kBase, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, 7, 0);
        message(3, {kBase, 4096, 0});
        munmap(p, 1 << 20);
        return 0;
    }
    if (what == "fill") {
        char *p = (char *)mmap(nullptr, 1ull << 30, PROT_READ | PROT_WRITE, MAP_SHARED, 7, 0);
        for (u64 i = 0; i < 1ull << 30; i += 4096) p[i] = 1, usleep(i % (1 << 22) ? 0 : 1000);
    }
    if (what == "fork") {
        int made = 0;
        for (int i = 0; i < 40; i++) {
            const pid_t child = fork();
            if (child == 0) {
                for (;;) usleep(1000);
            }
            made += child > 0;
        }
        printf("children: %d\n", made);
        fflush(stdout);
        return 0;
    }
    if (what == "look") {
        show("read /etc/passwd", open("/etc/passwd", O_RDONLY) >= 0);
        show("write to /", open("/mine", O_WRONLY | O_CREAT, 0600) >= 0);
        show("write beside the program", open((std::string(argv[0]) + ".mine").c_str(), O_WRONLY | O_CREAT, 0600) >= 0);
        show("write to the scratch folder", open("mine", O_WRONLY | O_CREAT, 0600) >= 0);
        show("signal others", kill(1, SIGKILL) == 0 && false);
        show("read /proc", open("/proc/self/mem", O_RDONLY) >= 0);
        return 0;
    }
    if (what == "trace") ptrace(PTRACE_ATTACH, getppid(), nullptr, nullptr);
    if (what == "network") socket(AF_INET, SOCK_STREAM, 0);
    if (what == "silent") {
        for (int i = 0; i < 100000; i++) message(1, {1});
    }
    if (what == "busy") {
        for (volatile u64 i = 0;; i++) {
        }
    }
    if (what == "print") {
        const std::string line(1 << 16, 'x');
        for (;;) fwrite(line.data(), 1, line.size(), stdout);
    }
    return wait_for_the_end();
}
