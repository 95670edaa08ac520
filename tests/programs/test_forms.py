"""The forms that come from outside: messages, what nvcc embeds, arguments of nvcc, files of a jail."""

from __future__ import annotations

import io
import struct
import tarfile
from pathlib import Path

import pytest

from warpsight.errors import UsageError
from warpsight.programs import images
from warpsight.programs.build import arch_for
from warpsight.programs.jailed import unpack
from warpsight.programs.messages import BadRequest, Fields, Op, check_head, pack_data, pack_numbers
from warpsight.programs.nvcc_wrapper import rewritten
from warpsight.programs.properties import device_numbers, host_link
from warpsight.programs.sources import build_place
from warpsight.vgpu.gpus import known_gpus
from warpsight.vgpu.ptx.parse import parse_module

OWN = ["-arch=compute_80", "-code=compute_80", "-no-compress", "-lineinfo", "-cudart=shared", "-cudadevrt=none",
       "-L/lib", "-isystem", "/include"]  # fmt: skip


def test_a_message_is_read_as_it_was_packed() -> None:
    fields = Fields(pack_numbers([7, 1 << 63]) + pack_data(b"kernel") + pack_data(b""))
    assert (fields.number(), fields.number(), fields.text(), fields.data()) == (7, 1 << 63, "kernel", b"")
    fields.end()


@pytest.mark.parametrize("body", [b"", b"1234567", pack_numbers([9]), pack_numbers([1 << 63]), pack_data(b"a\nb")])
def test_a_text_that_is_none_is_refused(body: bytes) -> None:
    with pytest.raises(BadRequest):
        Fields(body).text()


def test_a_message_is_bounded_before_it_is_read() -> None:
    assert check_head(struct.pack("<II", Op.LAUNCH, 100)) == (Op.LAUNCH, 100)
    for number, length in ((0, 0), (99, 0), (Op.LAUNCH, 1 << 20), (Op.MODULE, 1 << 31)):
        with pytest.raises(BadRequest):
            check_head(struct.pack("<II", number, length))


def container(*entries: tuple[int, int, int, bytes]) -> bytes:
    body = b""
    for kind, arch, flags, payload in entries:
        head = bytearray(64)
        struct.pack_into("<HHIQ", head, 0, kind, 0x101, 64, len(payload))
        struct.pack_into("<I", head, 0x1C, arch)
        struct.pack_into("<Q", head, 0x28, flags)
        body += bytes(head) + payload
    return struct.pack("<IHHQ", images.MAGIC, 1, 16, len(body)) + body


def test_the_newest_ptx_is_taken() -> None:
    found = images.ptx_of(container((2, 90, 0, b"ELF"), (1, 70, 0, b"old\0"), (1, 80, 0, b"new\0\0")))
    assert found == "new"


@pytest.mark.parametrize(
    "data", [b"", b"nonsense" * 9, container(), container((2, 80, 0, b"ELF")), container((1, 80, 0, b"x"))[:-1]]
)
def test_no_ptx_is_an_error(data: bytes) -> None:
    with pytest.raises(images.NoPtx):
        images.ptx_of(data)


def test_an_entry_that_claims_too_much_is_not_read() -> None:
    whole = bytearray(container((1, 80, 0, b"text")))
    struct.pack_into("<Q", whole, 16 + 8, 1 << 60)
    with pytest.raises(images.NoPtx):
        images.ptx_of(bytes(whole))


def test_of_several_containers_all_parts_are_joined() -> None:
    head = b".version 8.0\n.target sm_80\n.address_size 64\n"
    one = head + b".extern .global .u32 x;\n.global .u32 mine = 1;\n"
    two = head + b".visible .global .u32 x = 7;\n.global .u32 mine = 2;\n"
    later = (1, 120, 0, two.replace(b"7", b"8"))
    found = parse_module(images.ptx_of(container((1, 80, 0, one)) + container((1, 80, 0, two), later)))
    assert {name: raw[3].strip() for name, raw in found.raw_variables.items()} == {
        "mine__0": "1", "mine__1": "2", "x": "7",
    }  # fmt: skip


def test_a_build_stands_where_a_makefile_is(tmp_path: Path) -> None:
    program, below = tmp_path / "program", tmp_path / "program" / "src"
    below.mkdir(parents=True)
    with pytest.raises(UsageError, match="found neither"):
        build_place(program)
    (program / "CMakeLists.txt").write_text("add_something(NAME x)\n")
    (below / "Makefile").write_text("all:\n")
    assert build_place(program) == below
    (program / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.20)\nproject(x LANGUAGES CUDA)\n")
    assert build_place(program) == program
    (program / "CMakeLists.txt").unlink()
    (program / "more").mkdir()
    (program / "more" / "makefile").write_text("all:\n")
    with pytest.raises(UsageError, match="2 folders below it have a Makefile"):
        build_place(program)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("-arch=sm_60 -O3 -c main.cu -o main.o", "-O3 -c main.cu -o main.o"),
        ("-arch sm_90a -gencode arch=compute_70,code=sm_70 x.cu", "x.cu"),
        ("-gencode=arch=compute_70,code=sm_70 --generate-code arch=compute_80,code=sm_80 x.cu", "x.cu"),
        ("x.o -lcudart -lcublas -cudart static", "x.o -lcublas"),
        ("-Xcompiler -march=native -std=c++17 -code=sm_80", "-Xcompiler -march=native -std=c++17"),
        ("--compress-mode=size x.cu", "x.cu"),
    ],
)
def test_the_wrapper_takes_out_architectures_and_runtimes(given: str, kept: str) -> None:
    assert rewritten(given.split(), "80", "/lib", "/include") == [*OWN, *kept.split()]


def test_files_of_a_jail_stay_in_their_folder(tmp_path: Path) -> None:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as tar:
        for name in ("./good/file", "../bad", "/tmp/bad", "good/../../bad"):
            info = tarfile.TarInfo(name)
            info.size, info.mode = 4, 0o777
            tar.addfile(info, io.BytesIO(b"data"))
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    folder = tmp_path / "out"
    folder.mkdir()
    assert unpack(held.getvalue(), folder) == 1
    assert [p.relative_to(tmp_path).as_posix() for p in sorted(tmp_path.rglob("*")) if p.is_file()] == ["out/good/file"]


def test_every_gpu_has_its_numbers() -> None:
    for gpu in known_gpus().values():
        numbers = device_numbers(gpu, 1 << 34)
        assert len(numbers) == 22 and all(number >= 0 for number in numbers)
        assert host_link(gpu).gb_per_s > 10 and int(arch_for(gpu.arch)) <= 80
