"""Each rule on a small kernel of its own: the text it makes. Whether a text is right is for the gate to say."""

from __future__ import annotations

from tests.rewrite.kernels import COPY_LOOP, FACTS, kernel

from warpsight.rewrite import CAUSES, Facts, rewrites

DOUBLE = Facts(entry="twice", dtypes={"x": "float64"}, shapes={"x": ("N",)})
COUNTS = Facts(entry="twice", dtypes={"y": "int32"}, shapes={"y": ("64",)})


def made(text: str, cause: str, facts: Facts = FACTS) -> dict[str, str]:
    return {one.name: one.text for one in rewrites(text, cause, facts)}


def first(text: str, cause: str, facts: Facts = FACTS) -> str:
    return rewrites(text, cause, facts)[0].text


def test_float_for_double_but_not_in_comments_nor_where_it_is_meant() -> None:
    found = first(COPY_LOOP, "accidental_double")
    assert "2.0f * x[i];" in found and '"2.0"' in found
    text = kernel("    double s = sqrt(x[0]) + 1e-3 + 2 + 0x1p3;\n    y[0] = s;")
    assert "float s = sqrtf(x[0]) + 1e-3f + 2 + 0x1p3;" in first(text, "accidental_double")
    assert rewrites(COPY_LOOP, "accidental_double", DOUBLE) == ()


def test_more_blocks_up_to_what_the_loop_asks_for() -> None:
    found = made(COPY_LOOP, "too_few_blocks")
    assert "grid=(ceil((N)/256))" in next(iter(found.values()))
    assert any("grid=(64)" in text for text in found.values()) and any("grid=(1024)" in text for text in found.values())
    capped = COPY_LOOP.replace("grid=(16)", "grid=(min(N, 24))")
    assert "grid=(N)" in first(capped, "too_few_blocks")


def test_another_block_with_the_numbers_that_mean_it() -> None:
    body = "    __shared__ float t[512];\n    int i = blockIdx.x * 512 + threadIdx.x;\n    t[threadIdx.x] = x[i];"
    large = first(kernel(body, "grid=(ceil(N/512)) block=(512) shared=0"), "block_too_large")
    assert "grid=(ceil(N/256)) block=(256)" in large and "t[256]" in large and "* 256 +" in large
    body = "    const int threads = 32;\n    int lane = threadIdx.x % 32;\n    y[lane] = threads;"
    small = first(kernel(body, "grid=(N) block=(32) shared=0"), "block_too_small")
    assert "block=(256)" in small and "threads = 256;" in small and "% 32" in small
    deep = made(kernel("    y[0] = x[blockDim.y];", "grid=(N) block=(32, 1) shared=0"), "block_too_small")
    assert any("grid=(ceil((N)/8)) block=(32, 8)" in text for text in deep.values())


def test_shared_arrays_padded_turned_and_made_smaller() -> None:
    body = "    __shared__ float t[32][32];\n    t[threadIdx.x][0] = x[0];\n    y[0] = t[0][threadIdx.x];"
    found = list(made(kernel(body), "bank_conflicts").values())
    assert "t[32][33];" in found[0] and "t[0][threadIdx.x] = x[0];" in found[1] and "t[threadIdx.x][0];" in found[1]
    flat = kernel("    __shared__ float t[32 * 32];\n    t[threadIdx.y * 32 + threadIdx.x] = x[0];")
    assert "t[1056];" in first(flat, "bank_conflicts") and "* 33 +" in first(flat, "bank_conflicts")
    hog = kernel("    __shared__ float t[9000 + 2];\n    t[threadIdx.x] = x[0];")
    assert "t[256 + 2];" in first(hog, "shared_hog")
    dynamic = kernel("    y[0] = x[0];", "grid=(N) block=(256) shared=16384")
    assert "shared=0" in first(dynamic, "shared_hog")


def test_pragmas_and_split_sums() -> None:
    body = "    float s = 0.0f;\n    #pragma unroll 1\n    for (int k = threadIdx.x; k < N; k += 32) {\n"
    body += "        s += x[k];\n    }\n    y[0] = s;"
    found = made(kernel(body), "missing_unroll")
    assert "#pragma unroll\n" in next(iter(found.values()))
    split = next(text for name, text in found.items() if "accumulators" in name)
    assert "s_3 += x[(k + 3 * (32))];" in split and "s += s_1 + s_2 + s_3;" in split


def test_barriers_go_one_by_one_and_all() -> None:
    body = "    __shared__ float t[256];\n    t[threadIdx.x] = x[0];\n    __syncthreads();\n"
    body += "    for (int k = 0; k < 8; ++k) {\n        y[k] = t[k];\n        __syncthreads();\n    }"
    found = made(kernel(body), "needless_barriers")
    assert next(iter(found.values())).count("__syncthreads") == 1
    assert found["without the barriers of the kernel"].count("__syncthreads") == 0


def test_divisions() -> None:
    turn = "    for (int i = threadIdx.x; i < N; i += 32) {\n        y[i] = x[%s];\n    }"
    known = Facts(entry="twice", dtypes=FACTS.dtypes, shapes=FACTS.shapes, values={"K": 8})
    assert "((i) & (K - 1))" in first(kernel(turn % "i % K"), "division_in_loop", known)
    found = made(kernel(turn % "(i + 5) % N"), "division_in_loop")
    assert any("x[i]" in text for text in found.values()) and any("i_wrapped" in text for text in found.values())
    assert any("quotient((i + 5), N, inverse_of_N)" in text for text in found.values())
    assert rewrites(kernel(turn % "i" + "\n    y[0] = x[0] / 2.0f;"), "division_in_loop", FACTS) == ()


def test_cheaper_functions() -> None:
    text = kernel("    for (int k = 0; k < 4; ++k) {\n        float a = x[k];\n        y[k] = %s;\n    }")
    assert "rsqrtf(a)" in first(text % "1.0f / sqrtf(a)", "slow_math")
    assert "sqrtf(a)" in first(text % "powf(a, 0.5f)", "slow_math")
    assert "return v * v;" in first(text % "powf(a, 2.0f)", "slow_math")
    assert "2.0f * power_float_minus_1_5(a)" in first(text % "2.0f / powf(a, 1.5f)", "slow_math")
    assert "__expf(a - 1.0f)" in first(text % "powf(2.71828183f, a - 1.0f)", "slow_math")
    assert any("// options: --use_fast_math" in one for one in made(text % "sinf(a)", "slow_math").values())


def test_strides_instead_of_stretches() -> None:
    body = "    int all = gridDim.x * blockDim.x;\n    int part = (N + all - 1) / all;\n"
    body += "    int from = (blockIdx.x * blockDim.x + threadIdx.x) * part;\n"
    body += "    for (int i = from; i < min(N, from + part); ++i) {\n        y[i] = x[i];\n    }"
    found = first(kernel(body), "uncoalesced")
    assert "int i = (blockIdx.x * blockDim.x + threadIdx.x); i < N; i += all" in found and "part" not in found
    permuted = kernel("    int i = threadIdx.x % 32 * 8 + threadIdx.x / 32;\n    y[i] = x[i];")
    assert "int i = threadIdx.x;" in first(permuted, "uncoalesced")
    body = "    int r = blockIdx.x * 16 + threadIdx.x, c = blockIdx.y * 16 + threadIdx.y;\n"
    body += "    y[r * N + c] = x[r * N + c];"
    turned = kernel(body, "grid=(ceil(N/16), ceil(M/16)) block=(16, 16) shared=0")
    whole = made(turned, "uncoalesced")["x and y of blocks and threads changed"]
    assert "grid=(ceil(M/16), ceil(N/16))" in whole and "r = blockIdx.y * 16 + threadIdx.y" in whole


def test_vectors() -> None:
    loop = first(COPY_LOOP, "scalar_access")
    assert "float4 x_vector = reinterpret_cast<const float4*>(x)[i_vector];" in loop
    assert "y_vector.w = 2.0 * x_vector.w;" in loop and "for (int i = (N) / 4 * 4 + worker; i < N;" in loop
    body = "    int i = threadIdx.x;\n    y[4 * i] = x[4 * i + 1];\n    y[4 * i + 1] = x[4 * i];\n"
    body += "    y[4 * i + 2] = 0.0f;\n    y[4 * i + 3] = x[4 * i + 3];"
    found = first(kernel(body), "scalar_access")
    assert "reinterpret_cast<float4*>(y)[i] = make_float4(x_vector.y, x_vector.x, 0.0f, x_vector.w);" in found
    guarded = kernel(
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < N) {\n        y[i] = x[i];\n    }"
    )
    found = made(guarded, "scalar_access")["four elements a thread by vectors"]
    assert "if (4 * i + 3 < N) {" in found and "grid=(ceil((ceil(N/256))/4))" in found


def test_values_kept_in_registers() -> None:
    body = "    int i = threadIdx.x;\n    for (int k = 0; k < N; ++k) {\n        y[i] += x[k];\n    }"
    found = first(kernel(body), "reloads")
    assert "auto y_kept = y[i];" in found and "y_kept += x[k];" in found and "y[i] = y_kept;" in found
    assert "const float* __restrict__ x, float* __restrict__ y" in found
    twice = "    for (int k = 0; k < N; ++k) {\n        y[k] += x[k];\n    }"
    assert all("kept" not in text for text in made(kernel(twice), "reloads").values()), "another element in each turn"


def test_local_arrays() -> None:
    bounds = COPY_LOOP.replace("__global__ void", "__global__ void __launch_bounds__(1024, 2)")
    assert "__launch_bounds__" not in first(bounds, "spills")
    body = "    float t[8];\n    for (int k = 0; k < 8; ++k) {\n        t[k] = x[k];\n    }\n    y[0] = t[N & 7];"
    found = list(made(kernel(body), "spills").values())
    assert "y[0] = x[N & 7];" in found[0] and "float t[8]" not in found[0]
    assert any("__shared__ float t[8][256];" in text and "t[N & 7][threadIdx.x]" in text for text in found)


def test_a_body_of_its_own_for_a_fixed_value() -> None:
    known = Facts(entry="twice", dtypes=FACTS.dtypes, shapes=FACTS.shapes, values={"K": 5})
    body = (
        "    float t[8];\n    for (int k = 0; k < K; ++k) {\n        t[k] = x[k] + 1.0f;\n    }\n    y[0] = t[N & 3];"
    )
    found = next(text for name, text in made(kernel(body), "spills", known).items() if "K = 5" in name)
    assert "if (K == 5) {" in found and "const int K = 5;" in found and "} else {" in found
    assert found.count("t[k] = x[k] + 1.0f;") == 2 and found.count("#pragma unroll") == 1


def test_sums_before_atomics() -> None:
    found = first(kernel("    atomicAdd(&y[0], x[threadIdx.x]);"), "contended_atomics")
    assert "__shfl_down_sync" in found and "if (threadIdx.x % 32 == 0) { atomicAdd(&y[0], warp_total); }" in found
    body = "    for (int i = threadIdx.x; i < N; i += 256) {\n        atomicAdd(&y[i >> 2], 1);\n    }"
    found = first(kernel(body), "contended_atomics", COUNTS)
    assert "atomicAdd(&y_block[threadIdx.x / 32 * 65 + (i >> 2)], 1);" in found and "atomicAdd(&y[slot]," in found


def test_trees_and_running_sums() -> None:
    body = "    __shared__ float t[256];\n    t[threadIdx.x] = x[threadIdx.x];\n    __syncthreads();\n"
    tree = "    for (int s = 1; s < 256; s *= 2) {\n        if (threadIdx.x % (2 * s) == 0) {\n"
    tree += "            t[threadIdx.x] += t[threadIdx.x + s];\n        }\n        __syncthreads();\n    }"
    found = list(made(kernel(body + tree), "divergence").values())
    assert "__shfl_down_sync" in found[0] and "for (int s = (256) / 2; s > 0; s /= 2)" in found[1]
    serial = "    if (threadIdx.x == 0) {\n        for (int k = 1; k < 256; ++k) {\n"
    serial += "            t[k] += t[k - 1];\n        }\n    }"
    assert "__shfl_up_sync" in first(kernel(body + serial), "divergence")


def test_what_all_read_is_staged() -> None:
    body = "    float s = 0.0f;\n    for (int k = 0; k < N; ++k) {\n        s += x[k];\n    }\n    y[threadIdx.x] = s;"
    found = first(kernel(body), "missing_tile")
    assert "__shared__ float x_tile[256];" in found and "s += x_tile[k - k_tile];" in found


def test_operands_are_staged_and_the_guard_is_moved() -> None:
    body = (
        "    int c = blockIdx.x * 16 + threadIdx.x;\n    int r = blockIdx.y * 16 + threadIdx.y;\n"
        "    if (r < N && c < N) {\n        float s = 0.0f;\n        for (int k = 0; k < N; ++k) {\n"
        "            s += x[r * N + k] * x[k * N + c];\n        }\n        y[r * N + c] = s;\n    }"
    )
    found = first(kernel(body, "grid=(ceil(N/16), ceil(N/16)) block=(16, 16) shared=0"), "missing_tile")
    assert "x_tile_0[threadIdx.y][turn] = k_tile + turn < N && r < N ? x[r * N + (k_tile + turn)] : 0;" in found
    assert "x_tile_1[threadIdx.x][turn] = k_tile + turn < N && c < N ? x[(k_tile + turn) * N + c] : 0;" in found
    assert "if (r < N && c < N) { y[r * N + c] = s; }" in found and found.count("if (r < N") == 1


def test_what_is_stored_turned_goes_by_a_tile() -> None:
    body = "    int c = blockIdx.x * blockDim.x + threadIdx.x;\n    int r = blockIdx.y * blockDim.y + threadIdx.y;\n"
    body += "    if (r < N && c < N) {\n        y[c * N + r] = x[r * N + c];\n    }"
    head = "grid=(ceil(N/32), ceil(N/8)) block=(32, 8) shared=0"
    for cause in ("missing_tile", "uncoalesced"):
        found = next(text for name, text in made(kernel(body, head), cause).items() if "by way of a tile of 32" in name)
        assert "tile[threadIdx.y][threadIdx.x] = x[r * N + c];" in found and "block=(32, 32)" in found
        assert "y[c_turned * N + r_turned] = tile[threadIdx.x][threadIdx.y];" in found
        assert (
            "int c_turned = blockIdx.x * blockDim.x + threadIdx.y;" in found
            and "grid=(ceil(N/32), ceil(N/32))" in found
        )


def test_flat_loops_become_rows_and_columns() -> None:
    body = "    int w = blockIdx.x * 256 + threadIdx.x;\n    for (int i = w; i < M * N; i += gridDim.x * 256) {\n"
    body += "        y[i] = x[i / N] + i % N;\n    }"
    found = first(kernel(body), "division_in_loop")
    assert "row_of_warp = (w) / 32; row_of_warp < M; row_of_warp += (gridDim.x * 256) / 32" in found
    assert "y[(row_of_warp * N + column)] = x[row_of_warp] + column;" in found


def test_a_polynomial_by_horners_rule() -> None:
    body = "    float s = x[N] * powf(v, (float)N);\n    for (int k = N - 1; k >= 0; --k) {\n"
    body += "        s += x[k] * powf(v, (float)k);\n    }"
    found = made(kernel(body), "slow_math")["the polynomial by Horner's rule"]
    assert "float s = x[N];" in found and "s = s * v + x[k];" in found


def test_a_kernel_that_has_nothing_of_the_kind_gets_nothing() -> None:
    plain = kernel("    y[threadIdx.x] = x[threadIdx.x];")
    launch = {"block_too_small", "block_too_large", "too_few_blocks", "one_output_a_thread"}
    silent = set(CAUSES) - launch - {"slow_math", "reloads", "spills"}
    assert {cause for cause in silent if rewrites(plain, cause, FACTS)} == set()
