// printf and assert from device code. Format strings and arguments are untrusted: every byte is read through checked
// memory, and each conversion is rebuilt from its parsed parts, never passed on as written.
#include <cstdio>

#include "memory.hpp"

namespace warpsight {
namespace {

constexpr size_t kMostText = 1 << 20, kLongestString = 4096, kWidest = 512;

u64 address_of(const Warp &w, Ref r, u32 lane) {
    return Row::at(w, r)[lane] | (u64)Row::at(w, Row::high(r))[lane] << 32;
}

std::string read_string(Warp &w, u32 lane, u64 address) {
    std::string s;
    for (size_t i = 0; i < kLongestString; i++) {
        char c = *locate_one(w, lane, address + i, kGeneric, 1, false);
        if (!c) break;
        s += c;
    }
    return s;
}

struct Arguments {
    Warp &w;
    u32 lane;
    u64 at;
    bool full;  // no more text is taken: arguments are counted and not formatted
    template <class T>
    T take() {
        at = (at + sizeof(T) - 1) / sizeof(T) * sizeof(T);
        T v;
        std::memcpy(&v, locate_one(w, lane, at, kGeneric, sizeof(T), false), sizeof(T));
        at += sizeof(T);
        return v;
    }
};

template <class T>
void append(const Arguments &args, std::string &out, const std::string &spec, T value) {
    if (args.full) return;
    char buffer[kWidest + 400];
    int n = std::snprintf(buffer, sizeof buffer, spec.c_str(), value);
    if (n > 0) out.append(buffer, std::min((size_t)n, sizeof buffer - 1));
}

size_t read_number(const std::string &f, size_t &i, Arguments &args) {
    if (i < f.size() && f[i] == '*') {
        i++;
        return (size_t)std::max(0, std::min((int)kWidest, args.take<i32>()));
    }
    size_t n = 0;
    while (i < f.size() && f[i] >= '0' && f[i] <= '9') n = std::min(kWidest, n * 10 + (size_t)(f[i++] - '0'));
    return n;
}

// One conversion starting after '%'; returns the index after it.
size_t convert(const std::string &f, size_t i, Arguments &args, std::string &out) {
    std::string spec = "%";
    while (i < f.size() && std::strchr("-+ #0", f[i]) && spec.size() < 8) spec += f[i++];
    if (size_t width = read_number(f, i, args)) spec += std::to_string(width);
    if (i < f.size() && f[i] == '.') {
        spec += '.';
        spec += std::to_string(read_number(f, ++i, args));
    }
    bool wide = false;
    for (; i < f.size() && std::strchr("hlLzjtq", f[i]); i++) wide |= f[i] != 'h';
    if (i >= f.size()) return i;
    const char c = f[i++];
    switch (c) {
        case '%': out += '%'; break;
        case 'd':
        case 'i':
            if (wide)
                append(args, out, spec + "lld", (long long)args.take<i64>());
            else
                append(args, out, spec + "d", args.take<i32>());
            break;
        case 'u':
        case 'x':
        case 'X':
        case 'o':
            if (wide)
                append(args, out, spec + "ll" + c, (unsigned long long)args.take<u64>());
            else
                append(args, out, spec + c, args.take<u32>());
            break;
        case 'c': append(args, out, spec + "c", args.take<i32>()); break;
        case 'f':
        case 'F':
        case 'e':
        case 'E':
        case 'g':
        case 'G':
        case 'a':
        case 'A': append(args, out, spec + c, args.take<double>()); break;
        case 'p': append(args, out, "0x%llx", (unsigned long long)args.take<u64>()); break;
        case 's': {
            const u64 address = args.take<u64>();
            if (!args.full) append(args, out, spec + "s", read_string(args.w, args.lane, address).c_str());
            break;
        }
        default: out += '%', out += c;
    }
    return i;
}

}  // namespace

// One print can take as long as thousands of other instructions, so each looks at the clock. The text ends at its cap.
void print_formatted(Warp &w, const Ins &x, u32 m) {
    FaultKind over;
    if (w.block->launch->over_limits(w.block->executed(), true, &over)) {
        w.pc[lowest(m)] = w.now;
        w.block->fail(w, over, lowest(m));
    }
    std::string &output = *w.block->output;
    for (u32 rest = m; rest; rest &= rest - 1) {
        u32 lane = lowest(rest);
        std::string format = read_string(w, lane, address_of(w, x.a, lane)), text;
        Arguments args{w, lane, address_of(w, x.b, lane), output.size() >= kMostText};
        u32 conversions = 0;
        for (size_t i = 0; i < format.size();) {
            if (format[i] == '%')
                i = convert(format, i + 1, args, text), conversions++;
            else
                text += format[i++];
        }
        output.append(text, 0, kMostText - std::min(kMostText, output.size()));
        Row::at(w, x.d0)[lane] = conversions;
    }
}

void fail_assertion(Warp &w, const Ins &x, u32 m) {
    u32 lane = lowest(m);
    std::string what = read_string(w, lane, address_of(w, x.list[0], lane));
    w.block->fail(w, FaultKind::assert_failed, lane, 0, 0, what);
}

}  // namespace warpsight
