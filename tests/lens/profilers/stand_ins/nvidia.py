"""ncu, nsys, nvprof and compute-sanitizer, as far as our command lines go: they take the words that NVIDIA documents
and no others, run the program on a virtual GPU, and write what they saw in the forms that `recorded.py` shows.

A report of ncu or nsys is a file of theirs that only they read; here it holds JSON.
"""

from __future__ import annotations

import argparse
import json
import re
import sqlite3
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.lens.profilers.stand_ins.watched import Record, watch
from tests.lens.profilers.stand_ins.ways import Way, end_early, hang, number

from warpsight.lens.vocabulary import terms, vocabulary

FORBIDDEN = (
    "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters on the "
    "target device 0. For instructions on enabling permissions and to get more information see "
    "https://developer.nvidia.com/ERR_NVGPUCTRPERM"
)
OLD_TOOL = (
    "======== Warning: nvprof is not supported on devices with compute capability 8.0 and higher.\n"
    "                  Use NVIDIA Nsight Systems for GPU tracing and CPU sampling and NVIDIA Nsight Compute for GPU"
    " profiling."
)
NO_COUNTERS = (
    "==77== Warning: Skipping profiling on device 0 since profiling is not supported on devices with compute capability"
    " 7.5 and higher.\n                  Use NVIDIA Nsight Compute for GPU profiling."
)
KINDS = {
    "memcheck": {"out_of_bounds", "misaligned", "write_to_const", "stack_overflow"},
    "racecheck": {"shared_race"},
    "initcheck": {"uninitialised_read"},
    "synccheck": {"barrier_divergence", "warp_sync_divergence"},
}


def _words(tool: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=tool, allow_abbrev=False)
    parser.add_argument("program", nargs=argparse.REMAINDER)
    return parser


def ncu(words: Sequence[str], way: Way, gpu: str, marks: str) -> int:
    parser = _words("ncu")
    for flag in ("--force-overwrite", "--csv"):
        parser.add_argument(flag, action="store_true")
    for option, only in (("--target-processes", ["all", "application-only"]), ("--page", ["raw", "details"]),
                         ("--print-units", ["auto", "base"]), ("--kernel-name-base", ["function", "mangled"]),
                         ("--set", ["basic", "detailed", "full", "none"])):  # fmt: skip
        parser.add_argument(option, choices=only)
    for option in ("--export", "--import", "--metrics", "--kernel-name"):
        parser.add_argument(option)
    parser.add_argument("--section", action="append")
    for option in ("--launch-skip", "--launch-count"):
        parser.add_argument(option, type=int, default=0)
    asked = vars(parser.parse_args(words))
    if asked["import"]:
        print(_raw_page(json.loads(Path(asked["import"]).read_text()), way), end="")
        return 0
    print("==PROF== Connected to process 4711 (/usr/bin/python3)")
    if way == "hangs":
        hang(marks)
    seen = watch(asked["program"], gpu)
    if way == "forbidden":
        print(FORBIDDEN)
        return 1
    pattern = asked["kernel_name"].removeprefix("regex:")
    named = [one for one in seen.launches if re.search(pattern, one["kernel"])] if way != "sees nothing" else []
    chosen = named[asked["launch_skip"] : asked["launch_skip"] + asked["launch_count"]]
    if not chosen:
        others = "\n".join(dict.fromkeys(one["kernel"] for one in seen.launches))
        print(f"==WARNING== No kernels were profiled.\n==WARNING== Available Kernels:\n{others}")
        return 0
    for at, one in enumerate(chosen):
        print(f'==PROF== Profiling "{one["kernel"]}" - {at}: 0%....50%....100% - 41 passes')
    if way == "ends early":
        Path(asked["export"]).write_text(json.dumps(chosen)[:40])
        end_early()
    Path(asked["export"]).write_text(json.dumps(chosen))
    print(f"==PROF== Disconnected from process 4711\n==PROF== Report: {asked['export']}")
    return 0 if seen.status == 0 else 1


def metrics_of(launch: Record) -> dict[str, tuple[float, str]]:
    """What ncu calls the counters that the virtual GPU has, with units."""
    found: dict[str, tuple[float, str]] = {"gpu__time_duration.sum": (launch["us"] * 1000, "ns")}
    for name, value in launch["counters"].items():
        entry = vocabulary().get(name)
        if entry is None or not entry.ncu or (below := terms(entry.ncu[0]))[1]:
            continue
        (weight, first), *others = below[0]
        found.setdefault(first, (value / weight, "%" if entry.unit == "%" else ""))
        for _, other in others:
            found.setdefault(other, (0.0, ""))
    return found


def _raw_page(launches: list[Record], way: Way) -> str:
    about = ("ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size",
             "Grid Size", "Device", "CC")  # fmt: skip
    metrics = [metrics_of(one) for one in launches]
    names = sorted({name for one in metrics for name in one})
    units = [next(one[name][1] for one in metrics if name in one) for name in names]
    rows = [[*about, "device__attribute_display_name", *names], [""] * (len(about) + 1) + units]
    for at, (one, values) in enumerate(zip(launches, metrics, strict=True)):
        sizes = [f"({', '.join(map(str, one[side]))})" for side in ("block", "grid")]
        head = [str(at), "4711", "python3", "127.0.0.1", one["kernel"], "1", "7", *sizes, "0", one["cc"], one["device"]]
        numbers = (values.get(name, (None, ""))[0] for name in names)
        told = ["" if value is None else number(value, way, 0 if value == int(value) else 2) for value in numbers]
        rows.append([*head, *told])
    return "".join(",".join(f'"{cell}"' for cell in row) + "\n" for row in rows)


def nsys(words: Sequence[str], way: Way, gpu: str, marks: str) -> int:
    verb, *rest = words
    parser = _words(f"nsys {verb}")
    options = {
        "profile": ("--trace", "--sample", "--cpuctxsw", "--force-overwrite", "--output"),
        "stats": ("--report", "--format", "--timeunit", "--force-export", "--output"),
        "export": ("--type", "--force-overwrite", "--output"),
    }[verb]
    for option in options:
        parser.add_argument(option, required=True)
    asked = parser.parse_args(rest)
    if verb == "stats":
        print(_trace(json.loads(Path(asked.program[0]).read_text()), way), end="")
        return 0
    if verb == "export":
        _export(json.loads(Path(asked.program[0]).read_text()), Path(asked.output))
        return 0
    if way == "hangs":
        hang(marks)
    seen = watch(asked.program, gpu)
    report = Path(asked.output)
    kept = [] if way == "sees nothing" else list(seen.launches)
    if way == "ends early":
        end_early()
    report.write_text(json.dumps(kept))
    print(f"Generating '/tmp/nsys-report-1.qdstrm'\nGenerated:\n\t{report}")
    return seen.status


def _trace(launches: list[Record], way: Way) -> str:
    if not launches:
        return "SKIPPED: report.sqlite does not contain CUDA trace data.\n"
    header = (
        "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),Bytes (MB),"
        "Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name"
    )
    lines, at = list[str](), 1719000000
    for count, one in enumerate(launches):
        took = round(one["us"] * 1000)
        size = ",".join(str(n) for side in ("grid", "block") for n in one[side])
        shared = f'"{number(one["shared"] / 1e6, way, 3)}"'
        used = one["counters"].get("registers_per_thread", 16)
        numbers = f'"{number(at, way, 0)}","{number(took, way, 0)}",{1000 + count},{size},{used},"0",{shared}'
        lines.append(f'{numbers},,,,,{one["device"]} (0),1,,7,"{one["kernel"]}"')
        at += took + 5000
    progress = "Generating SQLite file report.sqlite from report.nsys-rep\nProcessing [report.sqlite] with "
    return progress + "[reports/cuda_gpu_trace.py]...\n" + "\n".join((header, *lines)) + "\n"


def _export(launches: list[Record], database: Path) -> None:
    database.unlink(missing_ok=True)
    with sqlite3.connect(database) as opened:
        opened.execute("CREATE TABLE StringIds (id INTEGER, value TEXT)")
        opened.execute("CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT)")
        opened.execute(
            "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, gridX, gridY, gridZ, blockX, blockY, blockZ,"
            " registersPerThread, staticSharedMemory, dynamicSharedMemory, deviceId, demangledName)"
        )
        at = 1719000000
        for count, one in enumerate(launches):
            opened.execute("INSERT INTO StringIds VALUES (?, ?)", (count, one["kernel"]))
            opened.execute("INSERT INTO TARGET_INFO_GPU VALUES (0, ?)", (one["device"],))
            row = (at, at + round(one["us"] * 1000), *one["grid"], *one["block"], 16, 0, one["shared"], 0, count)
            opened.execute(f"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({','.join('?' * len(row))})", row)
            at = row[1] + 5000
    opened.close()


def nvprof(words: Sequence[str], way: Way, gpu: str, marks: str) -> int:
    parser = _words("nvprof")
    for flag in ("--csv", "--print-gpu-trace"):
        parser.add_argument(flag, action="store_true")
    for option in ("--normalized-time-unit", "--log-file", "--kernels", "--metrics"):
        parser.add_argument(option)
    asked = parser.parse_args(words)
    if way == "hangs":
        hang(marks)
    seen = watch(asked.program, gpu)
    capability = float(seen.launches[0]["cc"]) if seen.launches else 0.0
    if capability >= 8.0:
        Path(asked.log_file).write_text(OLD_TOOL + "\n")
    elif asked.metrics and capability >= 7.5:
        Path(asked.log_file).write_text(NO_COUNTERS + "\n")
    else:
        text = _gpu_trace(seen.launches, way)
        Path(asked.log_file).write_text(text[:-40] if way == "ends early" else text)
    if way == "ends early":
        end_early()
    return 0


def _gpu_trace(launches: Sequence[Record], way: Way) -> str:
    header = (
        '"Start","Duration","Grid X","Grid Y","Grid Z","Block X","Block Y","Block Z","Registers Per Thread",'
        '"Static SMem","Dynamic SMem","Size","Throughput","SrcMemType","DstMemType","Device","Context","Stream","Name",'
        '"Correlation_ID"\nus,us,,,,,,,,KB,KB,KB,GB/s,,,,,,,\n'
    )
    rows = [
        f'"{number(40.0 * at, way, 6)}","{number(one["us"], way, 6)}",'
        + ",".join(str(n) for side in ("grid", "block") for n in one[side])
        + f',24,"0","0",,,,,"{one["device"]} (0)","1","7","{one["kernel"]} [{300 + at}]",{300 + at}\n'
        for at, one in enumerate(launches)
    ]
    return "======== Profiling result:\n" + header + "".join(rows)


def compute_sanitizer(words: Sequence[str], way: Way, gpu: str, marks: str) -> int:
    parser = _words("compute-sanitizer")
    parser.add_argument("--tool", choices=list(KINDS), required=True)
    for option in ("--print-limit", "--error-exitcode"):
        parser.add_argument(option, type=int, default=0)
    parser.add_argument("--report-api-errors", choices=["no", "explicit", "all"])
    parser.add_argument("--kernel-name")
    asked = parser.parse_args(words)
    print("========= COMPUTE-SANITIZER", flush=True)
    if way == "hangs":
        hang(marks)
    seen = watch(asked.program, gpu, check=True)
    only = (asked.kernel_name or "").removeprefix("kernel_name=")
    faults = [one for one in seen.faults if one["fault"]["kind"] in KINDS[asked.tool] and only in ("", one["kernel"])]
    for one in faults:
        print("\n".join(f"========= {line}".rstrip() for line in _told(one["kernel"], one["fault"])))
    if way == "ends early":
        end_early()
    count = sum(one["fault"]["count"] for one in faults)
    if asked.tool == "racecheck":
        shown = len(faults)
        print(f"========= RACECHECK SUMMARY: {shown} hazards displayed ({shown} errors, 0 warnings)")
    else:
        print(f"========= ERROR SUMMARY: {count} error{'' if count == 1 else 's'}")
    return asked.error_exitcode if faults else seen.status


def _told(kernel: str, fault: Record) -> list[str]:
    """One error in the words of the manual's samples."""
    place = f"{kernel}(float *, int)+0x60 in /home/user/kernel.cu:{fault['line']}"
    (tx, ty, tz), (bx, by, bz) = fault["thread"] or (0, 0, 0), fault["block"] or (0, 0, 0)
    where = f"    by thread ({tx},{ty},{tz}) in block ({bx},{by},{bz})"
    address = f"0x{fault['address'] or 0:x}"
    match fault["kind"]:
        case "shared_race":
            race = f"Error: Race reported between Write access at {place}"
            return [race, f"    and Read access at {place} [{fault['count']} hazards]", ""]
        case "uninitialised_read":
            return ["Uninitialized __global__ memory read of size 4 bytes", f"    at {place}", where,
                    f"    Address {address}", ""]  # fmt: skip
        case "barrier_divergence" | "warp_sync_divergence":
            return ["Barrier error detected. Divergent thread(s) in block.", f"    at {place}", where, ""]
        case kind:
            end = "is misaligned" if kind == "misaligned" else "is out of bounds"
            return [f"Invalid __global__ {'read' if 'read' in fault['message'] else 'write'} of size 4 bytes",
                    f"    at {place}", where, f"    Address {address} {end}", ""]  # fmt: skip


TOOLS: dict[str, Callable[[Sequence[str], Way, str, str], int]] = {
    "ncu": ncu, "nsys": nsys, "nvprof": nvprof, "compute-sanitizer": compute_sanitizer,
}  # fmt: skip

if __name__ == "__main__":
    sys.exit("put it into a PATH: ways.put")
