"""Independent multiply-adds in a row, which the interpreter does all at once.

Compiled code, which does each by itself, is what they are compared with.
"""

from __future__ import annotations

import numpy as np
import pytest

from coursekit.simt.interpreter import fused_steps
from coursekit.simt.interpreter.program import load
from coursekit.simt.memory.memory import Memory, storage
from coursekit.simt.run.launch import launch

LANES, REGISTERS = 32, 8
HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y)
{
    .reg .b64 %rd<9>;
    .reg .b32 %r<9>;
    .reg .f32 %f<9>;
    .reg .pred %p<3>;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    and.b32 %r2, %r1, 1;
    setp.eq.s32 %p1, %r2, 0;
"""
TAIL = "ret;\n}\n"
INDEPENDENT = ((4, 0, 1, 4), (5, 1, 2, 5), (6, 2, 3, 6), (7, 3, 0, 7))
BODIES = {
    "independent": INDEPENDENT,
    "each reads what the one before wrote":
        ((4, 0, 1, 2), (5, 4, 1, 2), (6, 5, 1, 3), (7, 6, 4, 5)),
    "a later one overwrites a source": ((4, 0, 1, 2), (5, 3, 2, 1), (0, 6, 7, 3)),
    "two write the same register": ((4, 0, 1, 2), (5, 1, 1, 3), (4, 3, 2, 1)),
    "one register is all sources": ((4, 0, 0, 0), (5, 1, 1, 1), (6, 2, 2, 2)),
}  # fmt: skip


def program(rows, before: str = "", between: str = "") -> str:
    """PTX that loads all registers, computes, and stores them all."""
    loads = [f"ld.global.f32 %f{k}, [%rd4+{128 * k}];" for k in range(REGISTERS)]
    sums = ["fma.rn.f32 " + ", ".join(f"%f{r}" for r in row) + ";" for row in rows]
    stores = [f"st.global.f32 [%rd5+{128 * k}], %f{k};" for k in range(REGISTERS)]
    middle = f"\n{between}\n".join(sums)
    return "\n".join((HEAD, *loads, before, middle, "$after:", *stores, TAIL))


def special(seed: int) -> np.ndarray:
    """Values of every kind: small, large, subnormal, infinite, not numbers."""
    random = np.random.default_rng(seed)
    bits = random.integers(0, 1 << 32, (REGISTERS, LANES), np.uint32).view(np.float32)
    usual = random.standard_normal((REGISTERS, LANES), np.float32)
    return np.where(random.random((REGISTERS, LANES)) < 0.5, bits, usual)


def result(text: str, engine: str, values: np.ndarray, threads: int = LANES) -> bytes:
    """Bytes that one block leaves."""
    memory = Memory()
    regions = []
    for given in (values, np.zeros_like(values)):
        data = storage(given.nbytes)
        data[:] = given.reshape(-1).view(np.uint8)
        regions.append(memory.allocate(given.nbytes, name="x", data=data))
    params = b"".join(np.uint64(region.address).tobytes() for region in regions)
    grid, block = (1, 1, 1), (threads, 1, 1)
    ran = launch(load(text, memory), "k", grid, block, params, engine=engine)
    assert ran.engine == engine
    return regions[1].data.tobytes()


def steps(text: str) -> int:
    """Steps of the first block of code."""
    return len(load(text, Memory()).code("k").blocks[0].steps)


@pytest.mark.parametrize("threads", [LANES, 19])
@pytest.mark.parametrize("rows", BODIES.values(), ids=BODIES)
def test_a_run_gives_the_bits_of_compiled_code(rows, threads):
    text, values = program(rows), special(len(rows))
    found = result(text, "interpreter", values, threads)
    assert found == result(text, "compiled", values, threads)


def test_lanes_that_wait_elsewhere_keep_their_values():
    text = program(INDEPENDENT, before="@%p1 bra $after;")
    values = special(9)
    found = np.frombuffer(result(text, "interpreter", values), np.uint32)
    even = found.reshape(REGISTERS, LANES)[:, ::2]
    np.testing.assert_array_equal(even, values.view(np.uint32)[:, ::2], strict=True)


def test_lanes_that_do_not_wait_get_the_bits_of_compiled_code():
    text = program(INDEPENDENT, before="@%p1 bra $after;")
    found = result(text, "interpreter", special(9))
    assert found == result(text, "compiled", special(9))


def test_a_run_is_one_step():
    several = ((d, *sources) for d, *sources in (*INDEPENDENT, (0, 1, 2, 3)))
    assert steps(program(several)) == steps(program(INDEPENDENT))


@pytest.mark.parametrize(
    "rows", [BODIES["each reads what the one before wrote"], INDEPENDENT[:2]]
)
def test_what_is_no_run_stays_one_step_each(rows, monkeypatch):
    found = steps(program(rows))
    monkeypatch.setattr(fused_steps, "SHORTEST", 1 << 30)
    assert found == steps(program(rows))
