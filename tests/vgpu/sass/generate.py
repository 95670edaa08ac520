# ruff: noqa: E501 (the kernel's text)
"""Random small CUDA kernels: expressions over many types, loops, branches, shared memory, warp operations.

Each kernel reads three inputs and writes three outputs, one element per thread; none races, none divides by zero, and
what it computes does not depend on the order of threads.
"""

from __future__ import annotations

import random

_INT_BINARY = (
    "({a} + {b})",
    "({a} - {b})",
    "({a} * {b})",
    "({a} & {b})",
    "({a} | {b})",
    "({a} ^ {b})",
    "min({a}, {b})",
    "max({a}, {b})",
    "({a} << ({b} & 31))",
    "({a} >> ({b} & 31))",
    "({a} / (({b} & 1023) + 1))",
    "({a} % (({b} & 255) + 3))",
    "({a} < {b} ? {a} : {b} + 1)",
    "__mulhi({a}, {b})",
    "(int)__byte_perm({a}, {b}, 0x3715)",
    "(int)__funnelshift_l({a}, {b}, {b} & 63)",
    "__vabsdiffu4({a}, {b})",
    "(int)__umulhi({a}, {b})",
    "__dp4a({a}, {b}, 7)",
)
_INT_UNARY = (
    "(-{a})",
    "(~{a})",
    "abs({a})",
    "__popc({a})",
    "__clz({a})",
    "(int)__brev({a})",
    "__ffs({a})",
    "(int)(short){a}",
    "(int)(signed char){a}",
    "(int)(unsigned char)({a} >> 8)",
    "({a} > 0)",
    "(int)((unsigned){a} / 7u)",
    "({a} / 10)",
    "({a} % 13)",
)
_LONG = (
    "({a} + {b})",
    "({a} - {b})",
    "({a} * {b})",
    "({a} ^ ({b} >> 7))",
    "({a} << ({b} & 63))",
    "({a} >> ({b} & 63))",
    "({a} < {b} ? {a} : {b})",
    "({a} / (({b} & 65535) + 1))",
    "(long long)((unsigned long long){a} / (((unsigned long long){b} & 255) + 1))",
    "__mul64hi({a}, {b})",
    "(long long)__popcll({a})",
    "(long long)__clzll({a})",
)
_FLOAT_BINARY = (
    "({a} + {b})",
    "({a} - {b})",
    "({a} * {b})",
    "({a} / {b})",
    "fminf({a}, {b})",
    "fmaxf({a}, {b})",
    "fmaf({a}, {b}, 0.5f)",
    "({a} < {b} ? {a} : {b})",
    "__fadd_rz({a}, {b})",
    "__fmul_ru({a}, {b})",
    "__fmaf_rd({a}, {b}, {a})",
    "copysignf({a}, {b})",
    "__fdividef({a}, {b})",
    "fmodf({a}, 3.25f)",
)
_FLOAT_UNARY = (
    "(-{a})",
    "fabsf({a})",
    "sqrtf(fabsf({a}))",
    "rsqrtf(fabsf({a}) + 0.25f)",
    "__expf({a} * 0.01f)",
    "__logf(fabsf({a}) + 1.0f)",
    "floorf({a})",
    "ceilf({a})",
    "truncf({a})",
    "rintf({a})",
    "__saturatef({a})",
    "__sinf({a})",
    "__cosf({a})",
    "expf({a} * 0.03f)",
    "sinf({a})",
    "log1pf(fabsf({a}))",
    "(1.0f / {a})",
    "tanhf({a})",
    "__half2float(__float2half({a}))",
    "__int_as_float(__float_as_int({a}) ^ 0x80000000)",
    "exp2f({a} * 0.05f)",
    "cbrtf({a})",
)
_DOUBLE = (
    "({a} + {b})",
    "({a} - {b})",
    "({a} * {b})",
    "({a} / ({b} + 1e-3))",
    "fmin({a}, {b})",
    "fmax({a}, {b})",
    "fma({a}, {b}, 0.5)",
    "sqrt(fabs({a}))",
    "floor({a})",
    "__dadd_rz({a}, {b})",
    "(double)(float){a}",
    "({a} < {b} ? {b} : {a})",
    "rint({a})",
    "(double)(long long)({a} * 64.0)",
)
_HALF = (
    "__hadd({a}, {b})",
    "__hmul({a}, {b})",
    "__hfma({a}, {b}, {a})",
    "__hsub({a}, {b})",
    "__hmax({a}, {b})",
    "__hneg({a})",
    "__float2half(__half2float({a}) * 0.5f)",
    "(__hlt({a}, {b}) ? {a} : {b})",
)
_CASTS = {
    "int": (
        "(int)(fminf(fmaxf({f}, -1e9f), 1e9f))",
        "(int){l}",
        "__float2int_rn({f} * 0.001f)",
        "(int)({d} * 0.001)",
        "__double2hiint({d})",
        "__float_as_int({f})",
    ),
    "long": (
        "(long long){i}",
        "(long long)(unsigned){i}",
        "(long long)({f} * 16.0f)",
        "__double_as_longlong({d})",
        "(long long){i} * {i}",
    ),
    "float": (
        "(float){i}",
        "(float){l}",
        "(float){d}",
        "(float)(unsigned){i}",
        "__half2float({h})",
        "(float)({i} & 1023) * 0.125f",
    ),
    "double": ("(double){f}", "(double){i}", "(double){l}", "(double)(unsigned){i} * 0.25"),
    "half": ("__float2half({f})", "__int2half_rn({i} & 255)", "__float2half_rz({f})"),
}
_CODES = {"int": "i", "long": "l", "float": "f", "double": "d", "half": "h"}
_TYPES = {"int": "int", "long": "long long", "float": "float", "double": "double", "half": "__half"}


class Generator:
    """One kernel from one seed. `half` says whether 16-bit floats may appear."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.names: dict[str, list[str]] = {kind: [f"{code}0", f"{code}1"] for kind, code in _CODES.items()}
        self.count = 2

    def pick(self, kind: str) -> str:
        return self.random.choice(self.names[kind])

    def expression(self, kind: str, depth: int) -> str:
        if depth == 0:
            return self.pick(kind)
        if self.random.random() < 0.18:
            return self.random.choice(_CASTS[kind]).format(**{code: self.pick(other) for other, code in _CODES.items()})
        a, b = self.expression(kind, depth - 1), self.expression(kind, self.random.randrange(depth))
        tables = {"long": _LONG, "double": _DOUBLE, "half": _HALF}
        if kind in tables:
            return self.random.choice(tables[kind]).format(a=a, b=b)
        binary, unary = (_INT_BINARY, _INT_UNARY) if kind == "int" else (_FLOAT_BINARY, _FLOAT_UNARY)
        return self.random.choice(binary if self.random.random() < 0.65 else unary).format(a=a, b=b)

    def statement(self, depth: int) -> list[str]:
        kind = self.random.choice(("int", "int", "float", "float", "long", "double", "half"))
        target, choice = self.pick(kind), self.random.random()
        value = self.expression(kind, self.random.randint(1, 2))
        if depth == 0 or choice < 0.55:
            return [f"{target} = {value};"]
        if choice < 0.68:
            return [
                f"if ({self.expression('int', 1)} & {1 << self.random.randrange(4)}) {{",
                *self.block(depth - 1),
                "} else {",
                *self.block(depth - 1),
                "}",
            ]
        if choice < 0.8:
            index = f"n{self.random.randrange(10**6)}"
            bound = self.random.choice(("3", "(t & 3) + 1", "5"))
            return [
                f"for (int {index} = 0; {index} < {bound}; {index}++) {{",
                f"i0 += {index};",
                *self.block(depth - 1),
                "}",
            ]
        return self.together()

    def together(self) -> list[str]:
        """Something the threads do with one another; only where all of them are."""
        return [f"{self.pick('float')} = {self.expression('float', 1)};"]

    def block(self, depth: int) -> list[str]:
        return [line for _ in range(self.random.randint(1, 3)) for line in self.statement(depth)]

    def exchange(self) -> list[str]:
        r = self.random
        i, f = self.pick("int"), self.pick("float")
        choices = (
            [
                "__syncthreads();",
                f"s[t] = {f};",
                "__syncthreads();",
                f"{f} += s[(t * {r.choice((1, 3, 5, 7))} + {r.randrange(64)}) & 63];",
            ],
            [f"{i} += __shfl_{r.choice(('xor', 'down', 'up'))}_sync(0xffffffffu, {i}, {r.choice((1, 2, 4, 8, 16))});"],
            [f"{f} += __shfl_sync(0xffffffffu, {f}, ({i} ^ t) & 31);"],
            [f"{i} ^= __ballot_sync(0xffffffffu, {f} > {self.pick('float')});"],
            [f"{i} += __syncthreads_count({i} & 1);"],
            [f"{i} += __any_sync(0xffffffffu, {i} == {self.pick('int')}) + 2 * __all_sync(0xffffffffu, {f} > 0.0f);"],
            [
                "__syncthreads();",
                "u[t] = 0;",
                "__syncthreads();",
                f"atomicAdd(&u[{i} & 63], {i} & 255);",
                "__syncthreads();",
                f"{i} += u[t];",
            ],
            [
                f"{{ int q[8]; for (int n = 0; n < 8; n++) q[n] = {i} + n * {self.pick('int')}; {i} = q[{i} & 7] + q[t & 7]; }}"
            ],
            [
                f"switch ({i} & 7) {{ case 0: {f} += 1.0f; break; case 1: {f} *= 0.5f; break; case 2: {f} = -{f}; break; case 3: {i} += 7; break;",
                f"case 4: {i} ^= 91; break; case 5: {f} = {f} * {f}; break; default: {i} -= 3; }}",
            ],
        )
        return list(r.choice(choices))

    def source(self) -> str:
        body = list[str]()
        for _ in range(self.random.randint(3, 6)):
            body += self.statement(2)
            if self.random.random() < 0.5:
                body += self.exchange()
        inside = "\n    ".join(body)
        return f"""#include <cuda_fp16.h>
extern "C" __global__ void k(const int *x, const float *y, const double *z, long long *out, float *outf, double *outd) {{
    __shared__ float s[64]; __shared__ int u[64];
    int t = threadIdx.x, g = blockIdx.x * blockDim.x + t;
    int i0 = x[g], i1 = x[g ^ 1] >> 3; long long l0 = (long long)i0 * 977 + i1, l1 = (long long)x[g ^ 2] << 20;
    float f0 = y[g], f1 = y[g ^ 3] * 1.5f; double d0 = z[g], d1 = z[g ^ 1] - 0.75; __half h0 = __float2half(f0), h1 = __float2half(f1);
    {inside}
    out[g] = l0 + 3 * l1 + i0 * 31 + i1; outf[2 * g] = f0 + __half2float(h0); outf[2 * g + 1] = f1 - __half2float(h1); outd[g] = d0 + d1; (void)s; (void)u;
}}
"""


def kernel(seed: int) -> str:
    """The source of kernel number `seed`; its entry is `k`, for blocks of 64 threads."""
    return Generator(seed).source()
