"""Tensor maps, the copies that they describe, and the barriers that they report to."""

from __future__ import annotations

import numpy as np
import pytest

import coursekit as ck
from coursekit.simt.interpreter import mbarriers
from coursekit.simt.memory import tensor_maps

ROWS, COLS = 10, 20
COPY = """#include "hopper.cuh"
__global__ void k(
    const __grid_constant__ TensorMap map, float *out, int row, int col)
{
    __shared__ alignas(1024) float box[8][16];
    __shared__ Barrier full;
    if (threadIdx.x == 0)
        barrier_init(&full, 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        arrive_and_expect(&full, sizeof box);
        copy_box(box, map, row, col, &full);
    }
    wait(&full, 0);
    for (int i = threadIdx.x; i < 128; i += blockDim.x)
        out[i] = box[i / 16][i % 16];
}"""
WAIT = "    wait(&full, 0);\n"
# Rows of x in turns through a ring of two, filled by thread 0 and left by both warps.
RING = """#include "hopper.cuh"
__global__ void k(
    const __grid_constant__ TensorMap x, float *sums, int rows)
{
    __shared__ alignas(128) float ring[2][64];
    __shared__ Barrier full[2], empty[2];
    if (threadIdx.x == 0)
        for (int i = 0; i < 2; i++) {
            barrier_init(&full[i], 1);
            barrier_init(&empty[i], 2);
        }
    __syncthreads();
    float sum = 0;
    for (int row = 0; row < rows; row++) {
        int stage = row % 2, turn = row / 2;
        if (threadIdx.x == 0) {
            if (turn > 0)
                wait(&empty[stage], (turn - 1) % 2);
            arrive_and_expect(&full[stage], 256);
            copy_box(ring[stage], x, row, 0, &full[stage]);
        }
        wait(&full[stage], turn % 2);
        sum += ring[stage][63 - threadIdx.x] * (row + 1);
        __syncwarp();
        if (threadIdx.x % 32 == 0)
            arrive(&empty[stage]);
    }
    sums[threadIdx.x] = sum;
}"""
SUM = "        sum += ring[stage][63 - threadIdx.x] * (row + 1);\n"
LEAVES = "            arrive(&empty[stage]);\n"
# A run of bytes, without a tensor map.
RUN = """#include "hopper.cuh"
__global__ void k(const float *x, float *out, int bytes)
{
    __shared__ alignas(128) float run[64];
    __shared__ Barrier full;
    if (threadIdx.x == 0) {
        barrier_init(&full, 1);
        arrive_and_expect(&full, bytes);
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier"
            "::complete_tx::bytes [%0], [%1], %2, [%3];"
            ::"r"(shared_address(run)), "l"(x), "r"(bytes),
              "r"(shared_address(&full)) : "memory");
    }
    __syncthreads();
    wait(&full, 0);
    out[threadIdx.x] = run[threadIdx.x];
}"""

pytestmark = pytest.mark.usefixtures("simulated")


def matrix(rows=ROWS, cols=COLS):
    return np.arange(1, rows * cols + 1, dtype=np.float32).reshape(rows, cols)


def copied(row, col, swizzle=None, source=COPY, box=(8, 16)):
    x, out = ck.to_device(matrix()), np.zeros(128, np.float32)
    ck.compile(source).k[1, 32](ck.tensor_map(x, box, swizzle), out, row, col)
    return out.reshape(8, 16)


def part(row, col):
    """The box of 8 x 16 at a place, zeros where it sticks out."""
    padded = np.pad(matrix(), 64)
    return padded[64 + row : 72 + row, 64 + col : 80 + col]


# ---------------------------------------------------------------- what a copy brings


@pytest.mark.parametrize(
    ("row", "col"), [(0, 0), (2, 4), (-3, -4), (5, 12), (9, 19), (40, 0), (0, -16)]
)
def test_a_box_has_zeros_outside_of_the_array(row, col):
    np.testing.assert_array_equal(copied(row, col), part(row, col), strict=True)


def test_a_swizzle_moves_words_of_16_bytes_within_lines_of_128():
    words = copied(0, 0, 64).reshape(4, 2, 4, 4)  # lines, halves, words, numbers
    plain = part(0, 0).reshape(4, 2, 4, 4)
    for line in range(4):
        order = np.arange(4) ^ line
        np.testing.assert_array_equal(words[line], plain[line][:, order])


@pytest.mark.parametrize(("swizzle", "mask"), [(0, 0), (32, 1), (64, 3), (128, 7)])
def test_the_pattern_of_a_swizzle_repeats(swizzle, mask):
    found = tensor_maps.TensorMap(0, 4, (64, 64), (4, 64), swizzle).order(2048)
    line = (found - 2048) // 128
    word = np.arange(64) % 8
    np.testing.assert_array_equal((found - 2048) // 16 % 8, word ^ (line & mask))


def test_a_map_is_read_as_it_was_written():
    made = tensor_maps.TensorMap(1 << 45, 2, (300, 7, 5), (8, 7, 1), 32)
    assert tensor_maps.TensorMap.read(bytes(made)) == made


def test_without_the_wait_the_box_is_not_there():
    assert WAIT in COPY
    found = copied(0, 0, source=COPY.replace(WAIT, ""))
    assert (found != part(0, 0)).all()


def test_a_run_of_bytes_needs_no_map():
    x, out = matrix(1, 64)[0], np.zeros(64, np.float32)
    ck.compile(RUN).k[1, 64](ck.to_device(x), out, 256)
    np.testing.assert_array_equal(out, x, strict=True)


def test_a_copy_is_no_request_of_a_thread():
    x, out = ck.to_device(matrix()), np.zeros(128, np.float32)
    arguments = ck.tensor_map(x, (8, 16)), out, 0, 0
    counts = ck.count(ck.compile(COPY).k, 1, 32, arguments)
    assert (counts.global_load_requests, counts.shared_store_requests) == (0, 0)


# ---------------------------------------------------------------- rings


def ring(source=RING, rows=7):
    x, sums = ck.to_device(matrix(rows, 64)), np.zeros(64, np.float32)
    return ck.compile(source).k, (ck.tensor_map(x, (1, 64)), sums, rows)


@pytest.mark.parametrize("order", ["forward", "reverse", 3])
def test_a_ring_gives_every_row_to_every_warp(order):
    kernel, arguments = ring()
    with ck.simulator(order=order):
        kernel[1, 64](*arguments)
    rows = matrix(7, 64)[:, ::-1] * np.arange(1, 8)[:, None]
    np.testing.assert_array_equal(arguments[1], rows.sum(0), strict=False)


@pytest.mark.parametrize("checker", ["memcheck", "racecheck", "initcheck", "synccheck"])
def test_nothing_is_found_in_a_ring(checker):
    kernel, arguments = ring()
    assert list(getattr(ck, checker)(kernel, 1, 64, arguments)) == []


def test_leaving_a_stage_before_it_is_read_is_a_race():
    early = RING.replace(SUM, "").replace(LEAVES, LEAVES + SUM)
    kernel, arguments = ring(early)
    found = ck.racecheck(kernel, 1, 64, arguments)
    assert [finding.error.line for finding in found]


def test_reading_before_the_wait_is_a_race():
    source = COPY.replace(WAIT, "").replace(
        "}\n    for", "}\n    __syncthreads();\n for"
    )
    x, out = ck.to_device(matrix()), np.zeros(128, np.float32)
    arguments = ck.tensor_map(x, (8, 16)), out, 0, 0
    assert list(ck.racecheck(ck.compile(source).k, 1, 32, arguments))


# ---------------------------------------------------------------- mistakes


def test_a_barrier_that_nobody_made_is_an_error():
    source = COPY.replace("barrier_init(&full, 1);", ";")
    with pytest.raises(ck.BarrierError, match="where none has been made"):
        copied(0, 0, source=source)


def test_one_arrival_too_many_is_an_error():
    source = COPY.replace("copy_box(box, map, row, col, &full);", "arrive(&full);")
    with pytest.raises(ck.BarrierError, match="takes 1 arrivals a phase"):
        copied(0, 0, source=source)


def test_waiting_for_bytes_that_nobody_brings_never_ends():
    source = COPY.replace("sizeof box);", "2 * sizeof box);")
    with ck.simulator(timeout_s=1), pytest.raises(ck.DeadlockError):
        copied(0, 0, source=source)


def test_a_copy_to_an_odd_place_is_an_error():
    source = COPY.replace("copy_box(box,", "copy_box(&box[0][4],").replace(
        "box[8][16];", "box[9][16];"
    )
    with pytest.raises(ck.OutOfBoundsError, match="no multiple of 128"):
        copied(0, 0, source=source)


def test_a_copy_past_the_shared_array_is_an_error():
    with pytest.raises(ck.OutOfBoundsError, match="box"):
        copied(0, 0, source=COPY.replace("box[8][16];", "box[4][16];"))


def test_bytes_that_are_no_map_are_an_error():
    with pytest.raises(ck.ArgumentError, match="no tensor map"):
        ck.compile(COPY).k[1, 32](bytes(128), np.zeros(128, np.float32), 0, 0)


def test_a_map_of_another_rank_is_an_error():
    x = ck.to_device(matrix().reshape(2, 5, 20))
    made = ck.tensor_map(x, (1, 2, 16))
    with pytest.raises(ck.OutOfBoundsError, match="of 3 axes"):
        ck.compile(COPY).k[1, 32](made, np.zeros(128, np.float32), 0, 0)


def test_an_array_on_the_host_has_no_map():
    with pytest.raises(ck.ArgumentError, match="does not lie on"):
        ck.tensor_map(matrix(), (8, 16))


@pytest.mark.parametrize(
    ("shape", "box", "swizzle", "says"),
    [
        ((10, 21), (8, 16), None, "rows of 84 bytes"),
        ((10, 20), (8, 6), None, "rows have 24 bytes"),
        ((10, 20), (8, 16), 32, "swizzle=32"),
        ((10, 20), (8, 16), 48, "swizzle=48"),
        ((10, 20), (8,), None, "box="),
        ((10, 20), (257, 16), None, "box="),
        ((10, 20), (0, 16), None, "box="),
        ((1,) * 6, (1,) * 6, None, "box="),
    ],
)
def test_what_the_hardware_cannot_copy_is_refused(shape, box, swizzle, says):
    x = ck.to_device(np.zeros(shape, np.float32))
    with pytest.raises(ck.ArgumentError, match=says):
        ck.tensor_map(x, box, swizzle)


# ---------------------------------------------------------------- a barrier's state


def test_a_phase_ends_with_its_last_arrival():
    phase = mbarriers.Phase(0, 2, 2).after(1)
    assert (phase.parity, phase.after(1).parity) == (0, 1)


def test_a_phase_waits_for_the_bytes_that_were_announced():
    phase = mbarriers.Phase(1, 1, 1).after(1, 64)
    assert (phase.parity, phase.after(0, -64).parity) == (1, 0)


def test_bytes_may_come_before_they_are_announced():
    phase = mbarriers.Phase(0, 1, 1).after(0, -64)
    assert phase.after(1, 64) == mbarriers.Phase(1, 1, 1)


@pytest.mark.parametrize("announced", [-(1 << 20) + 1, 0, (1 << 20) - 1])
def test_a_barrier_is_one_word(announced):
    phase = mbarriers.Phase(1, 3, 1000, announced)
    assert mbarriers.Phase.read(phase.word) == phase


def test_fresh_shared_memory_is_no_barrier():
    assert mbarriers.Phase.read(int.from_bytes(b"\xcb" * 8, "little")) is None
