"""Messages of OpenCL workers: what is packed comes out again, and any other bytes are refused in one way."""

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpsight.jail.wire import BadMessage, pack, unpack


@given(st.dictionaries(st.text(max_size=8), st.integers() | st.text()), st.lists(st.binary(max_size=40), max_size=4))
def test_what_is_packed_comes_out(header: dict[str, object], blobs: list[bytes]) -> None:
    header.pop("sizes", None)
    found, parts = unpack(pack(header, blobs))
    assert found == header
    assert [bytes(part) for part in parts] == blobs


@given(st.binary(max_size=200))
def test_any_bytes_are_a_message_or_are_refused(message: bytes) -> None:
    try:
        header, blobs = unpack(message)
    except BadMessage:
        return
    assert isinstance(header, dict) and all(isinstance(blob, memoryview) for blob in blobs)


@pytest.mark.parametrize(
    "text",
    [b"[]", b"{}", b'{"sizes": [5]}', b'{"sizes": [-1, 1]}', b'{"sizes": [true]}', b'{"sizes": "x"}', b"[" * 100_000],
)
def test_bad_headers(text: bytes) -> None:
    with pytest.raises(BadMessage):
        unpack(struct.pack(">I", len(text)) + text + b"x")


def test_arrays_are_blobs() -> None:
    _, (blob,) = unpack(pack({}, [np.arange(3, dtype=np.int32)]))
    assert np.frombuffer(blob, np.int32).tolist() == [0, 1, 2]
