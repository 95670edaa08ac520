"""Source to Build: the one function the rest of the project compiles with.

A source that does not compile is a Build with ok=False and diagnostics; only a compiler that is missing, crashed or
hung raises. One NVRTC run makes both PTX and machine code, so they always belong together. Results are cached by
content: a hit starts no process. Launches nothing, reads no file of the caller.
"""

from __future__ import annotations

import functools
import hashlib
import re
import time
from collections.abc import Mapping, Sequence

from pydantic import ValidationError

from warpsight.cubin.usage import read_entries
from warpsight.errors import ToolchainError, UsageError
from warpsight.events import event
from warpsight.jail import scrubbed
from warpsight.nouns import Build, Diagnostic
from warpsight.toolchain import packages
from warpsight.toolchain.cache import Cache, cache_folder, content_key
from warpsight.toolchain.clocks import refused_clocks
from warpsight.toolchain.hints import with_hint
from warpsight.toolchain.includes import refused_includes
from warpsight.toolchain.log import blames_ptx, read_diagnostics
from warpsight.toolchain.nvrtc import NvrtcProcess, RawCompile
from warpsight.toolchain.options import checked_options, with_defaults
from warpsight.toolchain.rounds import compile_with_names, pre_include

SCHEMA = "build-3"  # change it when the same input would now give another Build
DEADLINE_S = 60.0
SOURCE_CAP_BYTES = 2 << 20
# The source gets a folder that does not exist, the same on every machine: the PTX names no local path and
# `#include "x"` finds nothing of the machine.
SOURCE_FOLDER = "/warpsight"
LOG_CAP_CHARS = 64_000
MINIMAL = "--minimal"
_NOT_PLAIN = re.compile(r"#\s*include|%:|\?\?|##|<<<|\b_*(?:tex|surf|cu)|\\\s*\n", re.IGNORECASE)
MAX_DIAGNOSTICS = 200
FIRST_WITH_A_CACHE = (12, 9)  # older compilers keep none, and refuse the option that turns it off


@functools.cache
def shared_process() -> NvrtcProcess:
    """The compiler process that callers share when they bring none: start-up is paid once."""
    return NvrtcProcess()


def build_cache() -> Cache:
    """The cache of builds, in the user's cache folder or where WARPSIGHT_CACHE says."""
    folder = cache_folder()
    return Cache(folder / "builds" if folder else None)


def compile_cuda(
    source: str,
    *,
    gpu_arch: str = "sm_80",
    options: Sequence[str] = (),
    entry: str | None = None,
    name: str = "kernel.cu",
    deadline_s: float = DEADLINE_S,
    process: NvrtcProcess | None = None,
    cache: Cache | None = None,
) -> Build:
    """Compile CUDA C++ for `gpu_arch`; with `entry`, a source that lacks that entry is a failed Build."""
    _check_request(source, gpu_arch, name)
    asked = checked_options(options)
    cache = cache if cache is not None else build_cache()
    key = content_key(SCHEMA, source, name, gpu_arch, packages.compiler_identity(), *asked)
    build = stored_build(cache.get(key), source, gpu_arch, asked)
    if build is None:
        started = time.monotonic()
        build = _compile(source, gpu_arch, asked, name, deadline_s, process or shared_process())
        seconds = time.monotonic() - started
        event("compile", source=name, arch=gpu_arch, ok=build.ok, compiler=build.compiler, seconds=seconds)
        cache.put(key, build.model_dump_json().encode())
    return build if entry is None else _with_entry(build, entry, name)


def nvrtc_options(gpu_arch: str, options: Sequence[str]) -> list[str]:
    """The full option list for NVRTC: ours first, then what was asked for."""
    return [
        f"--gpu-architecture={gpu_arch}",
        "-lineinfo",
        "--ptxas-options=-v",
        *(("--no-cache",) if packages.cuda_line().release >= FIRST_WITH_A_CACHE else ()),
        *(f"-I{folder}" for folder in packages.include_dirs()),
        *with_defaults(options),
    ]


def _check_request(source: str, gpu_arch: str, name: str) -> None:
    if len(source.encode()) > SOURCE_CAP_BYTES:
        raise UsageError(f"expected a source of at most {SOURCE_CAP_BYTES} bytes, got {len(source.encode())}")
    if "\0" in source:
        raise UsageError("expected a text, the source has a zero byte in it")
    if not re.fullmatch(r"sm_[0-9]{2,3}[af]?", gpu_arch):
        raise UsageError(f"expected a GPU architecture such as sm_80, got {gpu_arch!r}")
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}", name):
        raise UsageError(f"expected a plain file name such as kernel.cu, got {name!r}")


def stored_build(stored: bytes | None, source: str, gpu_arch: str, options: tuple[str, ...]) -> Build | None:
    """A build from the cache, if it is one, and of this very request."""
    if stored is None:
        return None
    try:
        build = Build.model_validate_json(stored)
    except ValidationError:
        return None  # an entry of another version of the records: compile again
    asked = (hashlib.sha256(source.encode()).hexdigest(), gpu_arch, options)
    found = (build.source_sha256, build.gpu_arch, build.options)
    return build.model_copy(update={"cached": True}) if found == asked else None


def _compile(
    source: str, gpu_arch: str, options: tuple[str, ...], name: str, deadline_s: float, process: NvrtcProcess
) -> Build:
    def failed(diagnostics: Sequence[Diagnostic], log: str) -> Build:
        return _build(False, source, gpu_arch, options, diagnostics=diagnostics, log=log)

    refused = (*refused_includes(source, name), *refused_clocks(source, options, name))
    if refused:
        return failed(refused, "")
    file = f"{SOURCE_FOLDER}/{name}"
    raw, names = _raw_compile(source, file, gpu_arch, options, deadline_s, process)
    log = _plain_log(raw.log)
    if raw.result == "NVRTC_ERROR_INVALID_OPTION":
        raise UsageError(f"NVRTC refused the options for {gpu_arch}: {log.strip()}", hint="try another architecture")
    ptx = ""
    if raw.result != "NVRTC_SUCCESS" and blames_ptx(log):
        # The assembler names a line of PTX that NVRTC then withholds: stop before the assembler to get it.
        virtual = [*nvrtc_options(gpu_arch.replace("sm_", "compute_"), options), *pre_include(names)]
        virtual.remove("--ptxas-options=-v")
        ptx = process.compile(source, file, virtual, deadline_s, names).ptx
    diagnostics = [with_hint(one) for one in read_diagnostics(log, source, name, ptx)[:MAX_DIAGNOSTICS]]
    if raw.result == "NVRTC_ERROR_COMPILATION":
        if not any(diagnostic.severity == "error" for diagnostic in diagnostics):
            text = log.strip() or "the compiler failed and said nothing"
            diagnostics.append(_error(name, text[:2000]))
        return failed(diagnostics, log)
    _check_success(raw, log)
    return _build(True, source, gpu_arch, options, diagnostics=_no_errors(diagnostics), log=log, raw=raw)


def _raw_compile(
    source: str, file: str, gpu_arch: str, options: tuple[str, ...], deadline_s: float, process: NvrtcProcess
) -> tuple[RawCompile, Mapping[str, str]]:
    """First without what a plain source cannot name, which takes NVRTC a quarter less time; the code is the same."""
    full = nvrtc_options(gpu_arch, options)
    if not is_plain(source, options):
        return compile_with_names(source, file, full, deadline_s, process)
    raw, names = compile_with_names(source, file, [*full, MINIMAL], deadline_s, process)
    if raw.result != "NVRTC_SUCCESS":  # the last word on a source that fails is that of the whole compiler
        raw = process.compile(source, file, [*full, *pre_include(names)], deadline_s, names)
    return raw, names


def is_plain(source: str, options: Sequence[str] = ()) -> bool:
    """Whether it can do without textures, surfaces and the runtime's own functions: it includes nothing, glues no
    names, and none of its words begins like theirs."""
    return _NOT_PLAIN.search("\n".join((source, *options))) is None


def _no_errors(diagnostics: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Of a source that compiled: what reads like an error was written by the source, say with `#pragma message`."""
    return [d.model_copy(update={"severity": "warning"}) if d.severity == "error" else d for d in diagnostics]


def _check_success(raw: RawCompile, log: str) -> None:
    if raw.result != "NVRTC_SUCCESS":
        raise ToolchainError(f"NVRTC answered {raw.result}: {log.strip()[:2000]}", hint="warpsight doctor")
    if not raw.ptx or not raw.cubin:
        raise ToolchainError("NVRTC reported success but gave no PTX or no machine code", hint="warpsight doctor")


def _build(
    ok: bool,
    source: str,
    gpu_arch: str,
    options: tuple[str, ...],
    *,
    diagnostics: Sequence[Diagnostic],
    log: str,
    raw: RawCompile | None = None,
) -> Build:
    return Build(
        ok=ok,
        source_sha256=hashlib.sha256(source.encode()).hexdigest(),
        gpu_arch=gpu_arch,
        options=options,
        compiler=f"nvrtc {packages.cuda_line().compiler}",
        ptx=_portable(raw.ptx) if raw else "",
        cubin=raw.cubin if raw else b"",
        entries=read_entries(raw.cubin) if raw else (),
        diagnostics=tuple(diagnostics),
        log=log[:LOG_CAP_CHARS],
    )


def _with_entry(build: Build, entry: str, name: str) -> Build:
    names = [usage.name for usage in build.entries]
    if not build.ok or entry in names:
        return build
    found = ", ".join(names) if names else "none"
    missing = _error(
        name, f'no kernel named {entry}; kernels in this source: {found}. Declare it `extern "C" __global__`.'
    )
    return build.model_copy(
        update={"ok": False, "ptx": "", "cubin": b"", "entries": (), "diagnostics": (*build.diagnostics, missing)}
    )


def _error(name: str, message: str) -> Diagnostic:
    return Diagnostic(severity="error", file=name, line=None, column=None, message=message)


def _portable(text: str) -> str:
    """Header files by the name they are included under, so that a Build is the same on every machine."""
    for folder in reversed(packages.include_dirs()):  # longest first: cccl lies inside include
        text = text.replace(f"{folder}/", "")
    return text


def _plain_log(log: str) -> str:
    """The compiler's messages with plain file names and without the time the assembler took."""
    log = scrubbed(_portable(log).replace(f"{SOURCE_FOLDER}/", ""))
    return re.sub(r"^ptxas info\s*: Compile time = .*\n?", "", log, flags=re.MULTILINE)
