"""Recorded cards: the forms of Kernel Tuner and KTT, in files of our own; a time is never made up."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from warpsight.devices.recorded import open_recorded
from warpsight.errors import UsageError

TIMES = {(16, 1): 4.0, (16, 2): 2.0, (32, 1): 3.0, (32, 2): None}  # block, tile: milliseconds; one failed


def cache_file(folder: Path, name: str = "A100.json", *, faster: float = 1.0) -> Path:
    cache = {
        f"{block},{tile},7": {
            "block": block,
            "tile": tile,
            "width": 7,
            "time": time * faster if time else "RuntimeFailedConfig",
        }
        for (block, tile), time in TIMES.items()
    }
    whole = {"device_name": f"NVIDIA {name}", "kernel_name": "k", "tune_params_keys": ["block", "tile", "width"],
             "cache": cache}  # fmt: skip
    (folder / name).write_text(json.dumps(whole))
    return folder / name


def t4_file(folder: Path) -> Path:
    results = [
        {
            "configuration": {"block": block, "tile": tile, "width": 7},
            "invalidity": "correct" if time else "runtime",
            "measurements": [{"name": "time", "value": time or "RuntimeFailedConfig", "unit": ""}],
        }
        for (block, tile), time in TIMES.items()
    ]
    file = folder / "A100_T4.json.gz"
    file.write_bytes(gzip.compress(json.dumps({"metadata": {"timeunit": "miliseconds"}, "results": results}).encode()))
    return file


def ktt_file(folder: Path) -> Path:
    def result(block: int, tile: int, time: float | None) -> dict[str, Any]:
        pairs = (("block", block), ("tile", tile), ("width", 7))
        settings = [{"Name": name, "Value": value, "ValueType": "UnsignedInt"} for name, value in pairs]
        status = {"Status": "Ok", "TotalDuration": 1e3 * time} if time else {"Status": "ComputationFailed"}
        return {"Configuration": settings, "KernelName": "k", **status}

    results = [result(block, tile, time) for (block, tile), time in TIMES.items()]
    file = folder / "ktt.json"
    file.write_text(json.dumps({"Metadata": {"Device": "GeForce", "TimeUnit": "Microseconds"}, "Results": results}))
    return file


@pytest.mark.parametrize("make", [cache_file, t4_file, ktt_file])
def test_every_form_gives_the_same_times(make: Any, tmp_path: Path) -> None:
    device = open_recorded(make(tmp_path))
    assert device.source == "replayed" and device.name.startswith("recorded:")
    assert dict(device.parameters) == {"block": (16, 32), "tile": (1, 2)} and dict(device.fixed) == {"width": 7}
    assert device.time({"block": 16, "tile": 2}).time_us == 2000.0 == device.best.time_us
    failed = device.time({"block": 32, "tile": 2})
    assert failed.time_us is None and failed.reason.startswith("failed: ")
    assert device.median_us == 3000.0
    for wrong in ({"block": 16}, {"block": 16, "tile": 3}, {"block": 16, "tile": 1, "more": 1}):
        with pytest.raises(UsageError):
            device.time(wrong)


def test_what_nobody_recorded_has_no_time(tmp_path: Path) -> None:
    file = cache_file(tmp_path)
    whole = json.loads(file.read_text())
    del whole["cache"]["32,1,7"]
    file.write_text(json.dumps(whole))
    found = open_recorded(file).time({"block": 32, "tile": 1})
    assert found.time_us is None and "not recorded" in found.reason


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "not fetched"),
        ("[]", "expected a cache file"),
        ("{", "could not read"),
        ('{"cache": {"1": {"time": 1.0}}}', "cannot be read"),
        ('{"cache": {"1": {"a": 1, "time": "Failed"}}, "tune_params_keys": ["a"], "device_name": "d", '
         '"kernel_name": "k"}', "no time"),
        ('{"cache": {"1": {"a": 1, "time": -2.0}}, "tune_params_keys": ["a"], "device_name": "d", '
         '"kernel_name": "k"}', "no time"),
    ],
)  # fmt: skip
def test_a_file_that_is_none_is_told(text: str, told: str, tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_text(text)
    with pytest.raises(UsageError, match=told):
        open_recorded(file)
    with pytest.raises(UsageError, match="could not read"):
        open_recorded(tmp_path / "none.json")
