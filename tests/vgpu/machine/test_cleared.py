"""A block starts with zeros in every register that a thread may read first, whatever the block before left there."""

import numpy as np

from warpsight.vgpu import machine
from warpsight.vgpu.ptx import load_ptx

PTX = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry stale(.param .u64 out) {
    .reg .pred %p<2>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %tid.x;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra LATER;
    mov.u32 %r3, 77;
LATER:
    mad.lo.u32 %r4, %r1, 32, %r2;
    mul.wide.u32 %rd2, %r4, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r3;
    ret;
}
"""


def test_a_register_that_only_some_blocks_write_is_zero_in_the_others():
    program = load_ptx(PTX, "stale")
    for check in (False, True):
        out = np.full(128, 9, np.uint32)
        memory = machine.GlobalMemory()
        address = memory.add("out", out)
        params = address.to_bytes(8, "little")
        machine.launch(program, memory, grid=(4, 1, 1), block=(32, 1, 1), params=params, check=check, cores=1)
        assert out.tolist() == [77] * 32 + [0] * 96
