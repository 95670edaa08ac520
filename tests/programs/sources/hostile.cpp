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
// An image as nvcc embeds it, with lengths of our own choice.
static std::string container(u64 said, u32 kind, u32 flags, u32 own, u64 length, const std::string &payload) {
    std::string entry(64, '\0');
    const uint16_t kinds[2] = {(uint16_t)kind, 0};
    const u64 flags8 = flags;
    const u32 arch = 80;
    memcpy(&entry[0], kinds, 4), memcpy(&entry[4], &own, 4), memcpy(&entry[8], &length, 8);
    memcpy(&entry[0x1c], &arch, 4), memcpy(&entry[0x28], &flags8, 8);
    std::string head(16, '\0');
    const u32 magic = 0xba55ed50u;
    const uint16_t words[2] = {1, 16};
    const u64 size = said ? said : entry.size() + payload.size();
    memcpy(&head[0], &magic, 4), memcpy(&head[4], words, 4), memcpy(&head[8], &size, 8);
    return head + entry + payload;
}
static void image(const std::string &bytes) {
    std::string body(8, '\0');
    const u64 n = bytes.size(), none = 0;
    body.append((const char *)&n, 8).append(bytes).append((const char *)&none, 8);
    const u32 head[2] = {2, (u32)body.size()};
    raw(head, 8), raw(body.data(), body.size());
    name_message(6, 0, "k", {});
}
static void ptx(const std::string &text) {
    const std::string whole = ".version 7.0\n.target sm_80\n.address_size 64\n" + text;
    image(container(0, 1, 0, 64, whole.size(), whole));
}
static int answers() {  // both of an image: one for the module, one for the kernel
    for (int i = 0; i < 2; i++) {
        u32 size = 0;
        if (read(6, &size, 4) != 4) return 9;
        std::vector<char> body(size);
        for (u32 at = 0; at < size;) {
            const ssize_t got = read(6, &body[at], size - at);
            if (got <= 0) return 9;
            at += got;
        }
    }
    puts("answered");
    return 0;
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
    if (what.rfind("image ", 0) == 0) {
        const std::string which = what.substr(6), entry = ".visible .entry k() {\n";
        if (which == "nothing") image("");
        if (which == "short") image(container(1ull << 62, 1, 0, 64, 8, "x"));
        if (which == "long entry") image(container(0, 1, 0, 64, 1ull << 62, "x"));
        if (which == "small header") image(container(0, 1, 0, 1, 1, "x"));
        if (which == "compressed") image(container(0, 1, 0xf000, 64, 64, std::string(64, 'z')));
        if (which == "binary") ptx(std::string(1 << 16, '\xff'));
        if (which == "large array")
            ptx(".global .b8 x[1152921504606846976];\n" + entry + "ld.global.u8 %r1, [x]; ret; }\n");
        if (which == "large local") ptx(entry + ".local .b8 x[1152921504606846976]; ret; }\n");
        if (which == "large shared") ptx(entry + ".shared .b8 x[17179869184]; ret; }\n");
        if (which == "deep") ptx(entry + "mov.u32 %r1, " + std::string(100000, '(') + "1; ret; }\n");
        if (which == "braces") ptx(entry + std::string(100000, '{') + "ret; }\n");
        if (which == "registers") ptx(entry + ".reg .b32 %r<4000000000>; mov.u32 %r3999999999, 1; ret; }\n");
        if (which == "itself") ptx(".func f() { call f; ret; }\n" + entry + "call f; ret; }\n");
        if (which == "target") ptx(".target sm_999999999999999999999\n" + entry + "ret; }\n");
        return answers();
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
