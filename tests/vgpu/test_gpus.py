"""The data sheets: published peaks come out of them, every number has a source, names are found, bad files named."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from warpsight.errors import UsageError
from warpsight.vgpu.gpu import ARITHMETIC, Arithmetic, Gpu
from warpsight.vgpu.gpus import UNSOURCED, block_limits, find_gpu, gpus_of, known_gpus, user_file

BUILT_IN = gpus_of(None)

# What vendors publish, in TFLOP/s or TOP/s, dense: clocks, SMs and rates must multiply to it. Rates that are themselves
# inferred from such a peak are only checked for being whole numbers that fit.
PUBLISHED: list[tuple[str, Arithmetic, float]] = [
    ("a100", "f32", 19.5), ("a100", "f64", 9.7), ("a100", "f16", 78), ("a100", "tensor_f16", 312),
    ("a100", "tensor_tf32", 156), ("a100", "tensor_s8", 624), ("a100", "tensor_f64", 19.5),
    ("h100", "f32", 66.9), ("h100", "f64", 33.5), ("h100", "f16", 133.8), ("h100", "tensor_f16", 989.4),
    ("h100", "tensor_tf32", 494.7), ("h100", "tensor_s8", 1978.9), ("h100", "tensor_f64", 66.9),
    ("rtx-a6000", "f32", 38.7), ("rtx-a6000", "tensor_f16", 154.8), ("rtx-a6000", "tensor_tf32", 77.4),
    ("rtx-3090", "f32", 35.6), ("rtx-3090", "tensor_f16_acc16", 142), ("rtx-3070", "f32", 20.3),
    ("rtx-4090", "f32", 82.6), ("rtx-4090", "f64", 1.29), ("rtx-4090", "tensor_f16", 165.15),
    ("rtx-4090", "tensor_tf32", 82.58), ("rtx-4090", "tensor_s8", 660.6),
    ("l4", "f32", 30.3), ("l4", "tensor_f16", 121), ("l4", "tensor_tf32", 60), ("l4", "tensor_s8", 242.5),
    ("t4", "f32", 8.1), ("t4", "tensor_f16", 65), ("t4", "tensor_s8", 130), ("t4", "f64", 0.2544),
    ("v100", "f32", 14.1), ("v100", "f64", 7.07), ("v100", "tensor_f16", 112),
    ("v100-sxm2", "f32", 15.7), ("v100-sxm2", "tensor_f16", 125),
    ("rtx-2080-ti", "f32", 13.45), ("rtx-2080-ti", "f16", 26.9), ("rtx-2080-ti", "tensor_f16", 53.8),
    ("titan-rtx", "f32", 16.31), ("titan-rtx", "tensor_f16", 130), ("rtx-2060", "f32", 6.451),
    ("gtx-1650", "f32", 2.984), ("gtx-1650", "tensor_f16", 0), ("rtx-3060-ti", "f32", 16.2),
    ("rtx-3080", "f32", 29.8), ("rtx-a4000", "f32", 19.17), ("a10", "f32", 31.24), ("a10", "tensor_f16", 125),
    ("l40s", "f32", 91.6), ("l40s", "tensor_tf32", 183), ("h200", "f32", 66.91), ("h200", "f16", 133.82),
]  # fmt: skip


@pytest.mark.parametrize(("key", "kind", "tera"), PUBLISHED)
def test_published_peaks_come_out(key: str, kind: Arithmetic, tera: float) -> None:
    assert BUILT_IN[key].peak_gflops(kind) / 1000 == pytest.approx(tera, rel=0.012)


def test_the_gpus_that_tasks_may_name() -> None:
    wanted = {"a100", "h100", "rtx-a6000", "rtx-3090", "rtx-3070", "rtx-4090", "l4", "t4", "v100"}
    assert wanted <= set(BUILT_IN)


@pytest.mark.parametrize("key", list(BUILT_IN))
def test_every_number_has_a_source(key: str) -> None:
    gpu = BUILT_IN[key]
    numbers = {name for name in type(gpu).model_fields if getattr(gpu, name) is not None} - UNSOURCED
    assert set(gpu.sources) == numbers and len(numbers) >= 45
    assert all(len(text) > 10 for text in gpu.sources.values())


@pytest.mark.parametrize("key", list(BUILT_IN))
def test_the_limits_of_a_gpu_are_those_of_its_architecture(key: str) -> None:
    gpu = BUILT_IN[key]
    if key.startswith("v100"):  # compiled for the nearest architecture that the compiler still knows
        assert gpu.capability == "7.0" and gpu.arch == "sm_75" and "sm_75" in gpu.note
        return
    assert gpu.arch == f"sm_{gpu.capability.replace('.', '')}"
    limits = block_limits(gpu.arch)
    assert {name: getattr(gpu, name) for name in type(limits).model_fields} == limits.model_dump()


def test_units_add_up() -> None:
    for gpu in BUILT_IN.values():
        assert gpu.load_store_units * gpu.load_store_unit_bytes == gpu.shared_bytes_per_clock
        assert gpu.fp32_lanes % gpu.schedulers == 0 and gpu.threads_per_sm == 32 * gpu.warps_per_sm
        assert gpu.dram_bytes_per_clock() < gpu.l2_bytes_per_clock < gpu.sms * gpu.l1_bytes_per_clock


def test_what_follows_from_the_clock() -> None:
    a100 = BUILT_IN["a100"]
    assert a100.peak_gflops("f32", a100.base_mhz) == pytest.approx(108 * 64 * 2 * 1.095)
    assert a100.dram_bytes_per_clock() == pytest.approx(1555 / 1.410)
    assert a100.dram_bytes_per_clock(1000) == 1555
    assert a100.ridge_flops_per_byte() == pytest.approx(12.53, abs=0.01)
    assert a100.l2_gb_per_s() == pytest.approx(7219.2)
    assert BUILT_IN["h100"].boost_mhz_of("tensor_f16") == 1830 and BUILT_IN["h100"].boost_mhz_of("tensor_f64") == 1980
    assert {kind for kind in ARITHMETIC if BUILT_IN["t4"].peak_gflops(kind) == 0} == {
        "tensor_bf16", "tensor_tf32", "tensor_f64",
    }  # fmt: skip


def test_a_gpu_survives_json() -> None:
    for gpu in BUILT_IN.values():
        assert Gpu.model_validate_json(gpu.model_dump_json()) == gpu


def test_one_gpu_like_another_has_its_own_names() -> None:
    small, large = BUILT_IN["a100"], BUILT_IN["a100-80gb"]
    assert (large.dram_gb, large.dram_gb_per_s, large.sms) == (80, 2039, small.sms)
    assert not set(small.aliases) & set(large.aliases)
    assert large.sources["sms"] == small.sources["sms"] and large.sources["dram_gb"] != small.sources["dram_gb"]


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("RTX A6000", "rtx-a6000"), ("a6000", "rtx-a6000"), ("NVIDIA RTX A6000", "rtx-a6000"),
        ("A100", "a100"), ("NVIDIA A100-SXM4-40GB", "a100"), ("a100_80gb", "a100-80gb"),
        ("GeForce RTX 3090", "rtx-3090"), ("4090", "rtx-4090"),
        ("Tesla T4", "t4"), ("L4", "l4"), ("H100 SXM5", "h100"), ("sxm5", "h100"),
    ],
)  # fmt: skip
def test_names_are_found(name: str, key: str) -> None:
    assert find_gpu(name).key == key


def test_no_two_gpus_share_a_name() -> None:
    for key, gpu in BUILT_IN.items():
        for word in (key, gpu.name, *gpu.aliases):
            assert find_gpu(word).key == key


def test_an_unknown_name_lists_near_ones() -> None:
    with pytest.raises(UsageError, match=r"found 'rtx-3900'; near: .*rtx-3090"):
        find_gpu("rtx-3900")
    with pytest.raises(UsageError, match=r"known: a100, .*v100"):
        find_gpu("voodoo")
    with pytest.raises(UsageError, match="part of several GPUs: a100, a100-80gb, h100"):
        find_gpu("100")
    with pytest.raises(UsageError):
        find_gpu("")


@pytest.mark.parametrize(
    ("arch", "capability", "optin"),
    [("sm_75", "7.5", 64), ("compute_80", "8.0", 163), ("sm_87", "8.7", 163), ("sm_90a", "9.0", 227),
     ("sm_103", "10.0", 227), ("sm_120f", "12.0", 99), ("sm_60", "7.0", 96)],
)  # fmt: skip
def test_limits_by_architecture(arch: str, capability: str, optin: int) -> None:
    limits = block_limits(arch)
    assert (limits.capability, limits.shared_per_block_optin_bytes) == (capability, optin * 1024)


# ------------------------------------------------------------------------------------------------- a user's own file


def write(folder: Path, text: str) -> Path:
    file = folder / "mine.toml"
    file.write_text(text)
    return file


CARD = """
[gpu.my-card]
name = "My card"
aliases = ["mc-1"]
sm = "ga10x"
arch = "sm_86"
sms = 10
base_mhz = 1000
boost_mhz = 1500
l2_bytes = 2097152
l2_bytes_per_clock = 512
dram_gb = 4
dram_gb_per_s = 200.5
power_w = 75
"""


def test_a_user_adds_a_gpu(tmp_path: Path) -> None:
    file = write(tmp_path, CARD)
    gpus = known_gpus({"WARPSIGHT_GPUS": str(file)})
    assert list(gpus)[-1] == "my-card" and gpus["a100"] == BUILT_IN["a100"]
    card = find_gpu("MC 1", {"WARPSIGHT_GPUS": str(file)})
    assert card.peak_gflops("f32") == 2 * 128 * 10 * 1.5 and card.warps_per_sm == 48
    assert card.sources["sms"] == f"given in {file}" and "Huerta" in card.sources["latency_l1"]


def test_a_user_starts_from_another_gpu_and_overrides_one(tmp_path: Path) -> None:
    text = (
        '[gpu.a100]\nlike = "rtx-3070"\nsms = 20\nsource.sms = "counted"\n[gpu.slow]\nlike = "h100"\nboost_mhz = 1200'
    )
    with pytest.raises(UsageError, match="base_mhz"):  # the tensor clock and base clock of an H100 do not matter here
        gpus_of(write(tmp_path, text.replace("1200", "1000")))
    gpus = gpus_of(write(tmp_path, text))
    assert gpus["a100"].sms == 20 and gpus["a100"].sources["sms"] == "counted" and gpus["a100"].arch == "sm_86"
    assert gpus["slow"].boost_mhz == 1200 and gpus["slow"].sms == 132
    assert gpus["a100-80gb"].sms == 108


def test_a_user_brings_a_design_and_a_capability(tmp_path: Path) -> None:
    limits = "\n".join(f"{k} = {list(v) if isinstance(v, tuple) else v}" for k, v in limits_of("8.6").items())
    design = '[sm.mine]\ncapability = "8.8"\n' + "\n".join(f"{k} = {v}" for k, v in design_of("rtx-3090").items())
    text = f'[limits."8.8"]\n{limits}\n{design}\n' + CARD.replace("ga10x", "mine")
    card = gpus_of(write(tmp_path, text))["my-card"]
    assert card.capability == "8.8" and card.latency_l1 == BUILT_IN["rtx-3090"].latency_l1


def limits_of(capability: str) -> dict[str, object]:
    values = block_limits("sm_" + capability.replace(".", "")).model_dump()
    return {key: value for key, value in values.items() if key != "capability"}


def design_of(key: str) -> dict[str, object]:
    names = ("lanes", "tensor_", "latency_", "load_store", "bytes_per_clock", "schedulers", "issue_per")
    gpu = BUILT_IN[key].model_dump(exclude={"tensor_boost_mhz", "l2_bytes_per_clock", "sources"})
    return {name: value for name, value in gpu.items() if any(part in name for part in names)}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("sms = 10", 'sms = "ten"'), r"gpu\.my-card\.sms: expected a valid integer, found 'ten'"),
        (("sms = 10", "sms = 0"), r"gpu\.my-card\.sms: expected greater than 0, found 0"),
        (("sms = 10", ""), r"gpu\.my-card\.sms: expected streaming multiprocessors, found nothing"),
        (("sms = 10", "sms = 10\nbost_mhz = 3"), r"gpu\.my-card\.bost_mhz: expected a known key \(near: boost_mhz\)"),
        (("ga10x", "ga99x"), r"gpu\.my-card\.sm: expected one of gv100, .*, found 'ga99x'"),
        (('sm = "ga10x"', ""), r"gpu\.my-card\.sm: expected one of .*, found nothing"),
        (("base_mhz = 1000", "base_mhz = 2000"), r"gpu\.my-card\.numbers: expected base_mhz \(2000\) up to"),
        (("sm_86", "86"), r"gpu\.my-card\.arch: expected .*, found '86'"),
        (("[gpu.my-card]", "[gpu.my-card]\nlike = 'my-card'"), r"gpu\.my-card\.like: expected .*my-card -> my-card"),
        (("[gpu.my-card]", "[gpu.my-card]\nlike = 'nowhere'"), r"gpu\.my-card\.like: expected one of .*'nowhere'"),
        (("[gpu.my-card]", "[gpus.my-card]"), r"mine\.toml: gpus: expected one of limits, sm, gpu"),
        (("power_w = 75", "power_w = 75\nsource = 'me'"), r"gpu\.my-card\.source: expected a table of texts"),
        (("power_w = 75", "power_w = "), r"mine\.toml: expected a readable TOML file"),
        (("[gpu.my-card]", "gpu = 3\n[other]"), r"mine\.toml: (gpu|other): expected"),
    ],
)
def test_a_bad_entry_is_named(tmp_path: Path, change: tuple[str, str], says: str) -> None:
    file = write(tmp_path, CARD.replace(*change))
    with pytest.raises(UsageError, match=says) as caught:
        gpus_of(file)
    assert str(file) in caught.value.message


def test_the_file_that_the_environment_names_must_exist(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="WARPSIGHT_GPUS: expected a file"):
        user_file({"WARPSIGHT_GPUS": str(tmp_path / "none.toml")})


def test_the_configuration_folder_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    assert user_file({}) is None
    (tmp_path / "warpsight").mkdir()
    write(tmp_path / "warpsight", CARD).rename(tmp_path / "warpsight" / "gpus.toml")
    assert user_file({}) == tmp_path / "warpsight" / "gpus.toml"
    assert "my-card" in known_gpus({})


def test_contradictions_in_limits_are_refused() -> None:
    good = block_limits("sm_86")
    for change in (
        {"carve_outs_bytes": (0, 8192)},
        {"unified_bytes": 65536},
        {"shared_per_block_optin_bytes": good.shared_per_sm_bytes},
    ):
        with pytest.raises(ValidationError, match="shared_per_sm_bytes"):
            type(good).model_validate({**good.model_dump(), **change})


def test_the_page_shows_the_gpus() -> None:
    page = (Path(__file__).parents[2] / "docs" / "gpus.md").read_text()
    rows = [line.split("|")[1].strip(" `") for line in page.splitlines() if line.startswith("| `")]
    assert [row for row in rows if row in BUILT_IN] == list(BUILT_IN)
