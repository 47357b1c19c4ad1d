"""Bulk copies from shared to global memory: what they write, when, and what counts."""

from __future__ import annotations

import numpy as np
import pytest

import coursekit as ck

HELPERS = """#include "hopper.cuh"
__device__ void store_row(void *to, const void *from, int bytes)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
        ::"l"(to), "r"(shared_address(from)), "r"(bytes) : "memory");
}
__device__ void store_box(
    const TensorMap &map, const void *from, int row, int col)
{
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group"
        " [%0, {%1, %2}], [%3];"
        ::"l"(&map), "r"(col), "r"(row), "r"(shared_address(from)) : "memory");
}
__device__ void commit()
{
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
template <int LEFT> __device__ void wait_read()
{
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(LEFT) : "memory");
}
template <int LEFT> __device__ void wait_written()
{
    asm volatile("cp.async.bulk.wait_group %0;" ::"n"(LEFT) : "memory");
}
__device__ void fence()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
"""
FENCE = "fence();\n    __syncthreads();\n"
# Each of 32 threads fills one element of a row, and thread 0 stores it.
ROW = """
__global__ void k(const float *x, float *out, int bytes)
{
    __shared__ alignas(128) float tile[64];
    int t = threadIdx.x;
    tile[t] = x[t];
    fence();
    __syncthreads();
    if (t == 0) {
        store_row(out, tile, bytes);
        commit();
        wait_read<0>();
    }
}"""
# All threads fill a box of 8 x 16 numbers, and thread 0 stores it.
BOX = """
__global__ void k(
    const __grid_constant__ TensorMap map, int row, int col)
{
    __shared__ alignas(1024) float box[8][16];
    for (int i = threadIdx.x; i < 128; i += blockDim.x)
        box[i / 16][i % 16] = i + 1;
    fence();
    __syncthreads();
    if (threadIdx.x == 0) {
        store_box(map, box, row, col);
        commit();
        wait_read<0>();
    }
}"""
# Rows of x, doubled, through a ring of two slots; thread 0 stores them.
WAIT = "        if (t == 0)\n            wait_read<1>();\n"
RING = (
    """
__global__ void k(const float *x, float *out, int rows)
{
    __shared__ alignas(128) float ring[2][64];
    int t = threadIdx.x;
    for (int row = 0; row < rows; row++) {
        float *slot = ring[row % 2];
"""
    + WAIT
    + """        __syncthreads();
        slot[t] = 2 * x[64 * row + t];
        fence();
        __syncthreads();
        if (t == 0) {
            store_row(out + 64 * row, slot, 256);
            commit();
        }
    }
    if (t == 0)
        wait_read<0>();
}"""
)
# Block 0 stores a row and tells block 1, which reads it.
TOLD = """
__global__ void k(const float *x, float *out, float *copy, int *flag)
{
    __shared__ alignas(128) float tile[64];
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        tile[t] = x[t];
        fence();
        __syncthreads();
        if (t == 0) {
            store_row(out, tile, 128);
            commit();
            wait_written<0>();
            __threadfence();
            atomicExch(flag, 1);
            wait_read<0>();
        }
    } else {
        if (t == 0)
            while (atomicAdd(flag, 0) == 0)
                ;
        __threadfence();
        __syncthreads();
        copy[t] = out[t];
    }
}"""
READ_BACK = """
__global__ void k(const float *x, float *out, float *back)
{
    __shared__ alignas(128) float tile[64];
    int t = threadIdx.x;
    tile[t] = x[t];
    fence();
    __syncthreads();
    if (t == 0) {
        store_row(out, tile, 128);
        commit();
        wait_written<0>();
    }
    __syncthreads();
    back[t] = out[t];
}"""

pytestmark = pytest.mark.usefixtures("simulated")


def kernel(source):
    return ck.compile(HELPERS + source).k


def ramp(n):
    return np.arange(1, n + 1, dtype=np.float32)


def line_of(source, text):
    whole = HELPERS + source
    return whole[: whole.index(text, len(HELPERS))].count("\n") + 1


def stored_row(source=ROW, nbytes=128):
    x, out = ramp(32), np.zeros(64, np.float32)
    kernel(source)[1, 32](x, out, nbytes)
    return out


def stored_box(row, col, source=BOX, *, shape=(10, 20), box=(8, 16), swizzle=None):
    out = ck.to_device(np.zeros(shape, np.float32))
    kernel(source)[1, 32](ck.tensor_map(out, box, swizzle), row, col)
    return ck.to_host(out)


def ring(source=RING, rows=5):
    x, out = ramp(64 * rows), np.zeros(64 * rows, np.float32)
    return kernel(source), (x, out, rows)


def told(source=TOLD):
    x, out = ramp(32), ck.to_device(np.zeros(32, np.float32))
    copy, flag = np.zeros(32, np.float32), np.zeros(1, np.int32)
    return kernel(source), (x, out, copy, flag)


def read_back(source=READ_BACK):
    x, out = ramp(32), ck.to_device(np.zeros(32, np.float32))
    return kernel(source), (x, out, np.zeros(32, np.float32))


# ---------------------------------------------------------------- what is written


@pytest.mark.parametrize("count", [4, 16, 32])
def test_a_row_is_written_and_nothing_behind_it(count):
    expected = np.where(np.arange(64) < count, np.arange(1, 65), 0)
    np.testing.assert_array_equal(stored_row(nbytes=4 * count), expected)


def test_a_hint_for_the_cache_changes_nothing():
    hinted = HELPERS.replace(
        'bulk_group [%0], [%1], %2;"', 'bulk_group.L2::cache_hint [%0], [%1], %2, %3;"'
    ).replace('"r"(bytes)', '"r"(bytes), "l"(0ull)')
    assert hinted != HELPERS
    x, out = ramp(32), np.zeros(32, np.float32)
    ck.compile(hinted + ROW).k[1, 32](x, out, 128)
    np.testing.assert_array_equal(out, x, strict=True)


@pytest.mark.parametrize(
    ("row", "col"), [(0, 0), (2, 4), (-3, -5), (5, 12), (9, 19), (40, 0), (0, -16)]
)
def test_what_sticks_out_of_the_array_is_not_written(row, col):
    padded = np.zeros((138, 148), np.float32)
    padded[64 + row : 72 + row, 64 + col : 80 + col] = ramp(128).reshape(8, 16)
    np.testing.assert_array_equal(stored_box(row, col), padded[64:74, 64:84])


def test_a_swizzled_box_is_read_in_the_order_of_its_words():
    words = stored_box(0, 0, shape=(8, 16), swizzle=64).reshape(4, 2, 4, 4)
    plain = ramp(128).reshape(4, 2, 4, 4)  # lines, halves, words, numbers
    expected = [plain[line][:, np.arange(4) ^ line] for line in range(4)]
    np.testing.assert_array_equal(words, expected)


@pytest.mark.parametrize("rank", [1, 3, 5])
def test_boxes_have_one_to_five_axes(rank):
    places = ", ".join(["%2"] * rank)
    source = HELPERS.replace("tensor.2d", f"tensor.{rank}d").replace(
        "{%1, %2}", f"{{{places}}}"
    )
    shape = (*(1,) * (rank - 1), 128)
    out = ck.to_device(np.zeros(shape, np.float32))
    made = ck.tensor_map(out, shape)
    ck.compile(source + BOX).k[1, 32](made, 0, 0)
    np.testing.assert_array_equal(ck.to_host(out).ravel(), ramp(128), strict=True)


@pytest.mark.parametrize("order", ["forward", "reverse", 3])
def test_a_ring_of_two_slots_writes_every_row(order):
    function, arguments = ring()
    with ck.simulator(order=order):
        function[1, 64](*arguments)
    np.testing.assert_array_equal(arguments[1], 2 * arguments[0], strict=True)


def test_another_block_that_is_told_reads_the_new_bytes():
    function, arguments = told()
    function[2, 32](*arguments)
    np.testing.assert_array_equal(arguments[2], arguments[0], strict=True)


def test_a_store_is_no_request_of_a_thread():
    counts = ck.count(kernel(ROW), 1, 32, (ramp(32), np.zeros(64, np.float32), 128))
    assert (counts.global_store_requests, counts.shared_load_requests) == (0, 0)
    assert "interpreted: bulk copies" in repr(counts)


# ---------------------------------------------------------------- what goes wrong


def test_a_slot_that_is_filled_too_early_gives_wrong_rows():
    function, arguments = ring(RING.replace(WAIT, ""))
    function[1, 64](*arguments)
    x, out = (one.reshape(5, 64) for one in arguments[:2])
    np.testing.assert_array_equal(out, 2 * x[[4, 3, 4, 3, 4]])


def test_a_wait_that_leaves_one_group_too_many_gives_wrong_rows():
    function, arguments = ring(RING.replace(WAIT, WAIT.replace("1", "2")))
    function[1, 64](*arguments)
    assert (arguments[1] != 2 * arguments[0]).any()


def test_after_a_wait_for_reads_alone_the_global_bytes_are_the_old_ones():
    function, arguments = read_back(READ_BACK.replace("wait_written", "wait_read"))
    function[1, 32](*arguments)
    np.testing.assert_array_equal(arguments[2], np.zeros(32, np.float32))
    np.testing.assert_array_equal(ck.to_host(arguments[1]), arguments[0])


@pytest.mark.parametrize(
    "left_out", ["        wait_read<0>();\n", "        commit();\n"]
)
def test_a_store_that_nobody_waits_for_is_left_undone(left_out):
    assert left_out in ROW
    np.testing.assert_array_equal(stored_row(ROW.replace(left_out, "")), np.zeros(64))


def test_a_wait_is_for_the_thread_that_executes_it():
    source = ROW.replace(
        "        wait_read<0>();\n    }", "    }\n    if (t == 1) wait_read<0>();"
    )
    np.testing.assert_array_equal(stored_row(source), np.zeros(64))


def faults_of(source, *arguments):
    with pytest.raises(ck.OutOfBoundsError) as caught:
        kernel(source)[1, 32](*arguments)
    return caught.value


FAULTS = {
    "odd size": (
        "store_row(out, tile, bytes + 4)", "copies 132 bytes to byte 0 of out."
    ),
    "no size": ("store_row(out, tile, 0)", "copies 0 bytes to byte 0 of out."),
    "odd place": (
        "store_row(out + 1, tile, bytes)", "copies 128 bytes to byte 4 of out."
    ),
    "odd source": (
        "store_row(out, tile + 2, bytes)",
        "copies from byte 8 of tile, no multiple of 16.",
    ),
    "past the array": (
        "store_row(out + 48, tile, bytes)",
        "copies 128 bytes to byte 192 of out, but out has 256 bytes.",
    ),
    "past the tile": (
        "store_row(out, tile + 48, bytes)",
        "copies 128 bytes from byte 192 of tile, but tile has 256 bytes.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_bad_store_names_thread_and_line(name):
    call, text = FAULTS[name]
    source = ROW.replace("store_row(out, tile, bytes)", call)
    error = faults_of(source, ramp(32), np.zeros(64, np.float32), 128)
    what, *_, cause, cure = str(error).splitlines()
    assert text in what and cause.strip() and cure.strip()
    assert (error.thread, error.block) == ((0, 0, 0), (0, 0, 0))
    assert f"called from kernel.cu:{line_of(ROW, 'store_row(')}" in str(error)


@pytest.mark.parametrize(
    ("change", "text"),
    [("&box[0][4]", "no multiple of 128"), ("box + 4", "but box has 512 bytes")],
)
def test_a_box_from_a_bad_place_names_thread_and_line(change, text):
    out = ck.to_device(np.zeros((10, 20), np.float32))
    source = BOX.replace("map, box,", f"map, {change},")
    if "128" in text:
        source = source.replace("box[8][16];", "box[9][16];")
    error = faults_of(source, ck.tensor_map(out, (8, 16)), 0, 0)
    assert text in str(error)
    assert error.thread == (0, 0, 0)


def test_a_box_of_another_rank_is_an_error():
    out = ck.to_device(np.zeros((2, 5, 20), np.float32))
    error = faults_of(BOX, ck.tensor_map(out, (1, 2, 16)), 0, 0)
    assert "of 3 axes" in str(error)


@pytest.mark.parametrize(
    "instruction",
    ["cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], 128",
     "cp.async.bulk.prefetch.L2.global [%0], 128"],
)  # fmt: skip
def test_other_bulk_copies_are_refused(instruction):
    source = f"""__global__ void k(unsigned *out) {{
      __shared__ alignas(128) unsigned tile[32];
      unsigned at = (unsigned)__cvta_generic_to_shared(tile);
      asm volatile("{instruction};" ::"l"(out), "r"(at) : "memory"); }}"""
    name = instruction.split()[0].replace(".", r"\.")
    with pytest.raises(ck.UnsupportedError, match=f"the simulator has no `{name}"):
        ck.compile(source).k[1, 1](np.zeros(32, np.uint32))


# ---------------------------------------------------------------- checks


@pytest.mark.parametrize("checker", ["memcheck", "racecheck", "initcheck", "synccheck"])
@pytest.mark.parametrize("make", [ring, read_back])
def test_nothing_is_found_in_a_right_kernel(checker, make):
    function, arguments = make()
    found = getattr(ck, checker)(function, 1, len(arguments[0]) % 64 or 64, arguments)
    assert list(found) == []


def test_no_race_is_found_where_another_block_is_told():
    function, arguments = told()
    assert list(ck.racecheck(function, 2, 32, arguments)) == []


def test_filling_a_slot_before_it_is_read_is_a_race():
    source = RING.replace(WAIT, "")
    function, arguments = ring(source)
    found = list(ck.racecheck(function, 1, 64, arguments))
    assert len(found) == 1
    assert f"kernel.cu:{line_of(source, 'slot[t] =')} " in str(found[0].error)
    assert "nobody has waited for that bulk store" in str(found[0].error)


def test_a_slot_that_its_own_thread_fills_too_early_is_a_race():
    source = ROW.replace(
        "        commit();\n", "        commit();\n        tile[3] = 0;\n"
    )
    arguments = ramp(32), np.zeros(64, np.float32), 128
    found = list(ck.racecheck(kernel(source), 1, 32, arguments))
    assert [one.line for one in found] == [line_of(source, "tile[3] = 0")]
    assert "writes tile[3], and a copy that it began itself" in str(found[0].error)


def test_a_source_that_another_thread_changes_without_a_barrier_is_a_race():
    source = ROW.replace(
        "wait_read<0>();\n    }",
        "wait_read<0>();\n    }\n    if (t == 32) tile[5] = 0;",
    )
    arguments = ramp(64), np.zeros(64, np.float32), 128
    found = list(ck.racecheck(kernel(source), 1, 64, arguments))
    assert len(found) == 1
    assert f"kernel.cu:{line_of(source, 'if (t == 32)')} " in str(found[0].error)


def test_reading_after_a_wait_for_reads_alone_is_a_race():
    source = READ_BACK.replace("wait_written", "wait_read")
    function, arguments = read_back(source)
    found = list(ck.racecheck(function, 1, 32, arguments))
    assert [one.line for one in found] == [line_of(source, "back[t] =")]


@pytest.mark.parametrize(
    "change",
    [("            __threadfence();\n", ""), ("wait_written<0>", "wait_read<0>")],
)
def test_another_block_that_is_told_too_early_races(change):
    function, arguments = told(TOLD.replace(*change))
    (found,) = ck.racecheck(function, 2, 32, arguments)
    assert "nothing orders blocks" in str(found.error)
    assert "cp.async.bulk.wait_group 0 and a __threadfence()" in str(found.error)


def test_storing_what_nothing_wrote_is_found():
    arguments = ramp(32), np.zeros(64, np.float32), 192
    found = list(ck.initcheck(kernel(ROW), 1, 32, arguments))
    assert len(found) == 1
    assert "tile[32], which nothing has written" in str(found[0].error)


# ---------------------------------------------------------------- fences

# What one bulk copy brings, another one takes away.
THROUGH = """
__global__ void k(
    const __grid_constant__ TensorMap from,
    const __grid_constant__ TensorMap to)
{
    __shared__ alignas(1024) float box[8][16];
    __shared__ Barrier full;
    if (threadIdx.x == 0) {
        barrier_init(&full, 1);
        arrive_and_expect(&full, sizeof box);
        copy_box(box, from, 2, 4, &full);
        wait(&full, 0);
        store_box(to, box, 0, 0);
        commit();
        wait_read<0>();
    }
}"""


def races_of_row(source):
    arguments = ramp(32), np.zeros(64, np.float32), 128
    return ck.racecheck(kernel(source), 1, 32, arguments)


def test_a_missing_fence_names_both_lines_and_the_cure():
    source = ROW.replace("    fence();\n", "")
    (found,) = races_of_row(source)
    text = str(found.error)
    assert (found.level, found.count) == ("error", 32)
    assert "stores tile[0] by a bulk copy, and thread (0, 0, 0) wrote it" in text
    assert f"kernel.cu:{line_of(source, 'tile[t] =')} " in text
    assert f"called from kernel.cu:{line_of(source, 'store_row(')} " in text
    assert "fence.proxy.async.shared::cta, then __syncthreads()" in text


@pytest.mark.parametrize("variant", ["", ".global", ".shared::cta"])
def test_every_fence_of_the_async_proxy_suffices(variant):
    fence = f'asm volatile("fence.proxy.async{variant};" ::: "memory");'
    assert list(races_of_row(ROW.replace("fence();", fence))) == []


@pytest.mark.parametrize(
    ("fence", "count"),
    [
        ("__threadfence();", 32),
        ("if (t == 0) fence();", 31),
        ("if (t < 8) fence();", 24),
    ],
)
def test_each_thread_that_wrote_needs_the_fence(fence, count):
    (found,) = races_of_row(ROW.replace("fence();", fence))
    assert (found.level, found.count) == ("error", count)


def test_a_fence_in_front_of_the_write_is_too_early():
    source = ROW.replace("    fence();\n", "")
    source = source.replace("    tile[t] =", "    fence();\n    tile[t] =")
    assert len(races_of_row(source)) == 1


def test_a_fence_of_the_storing_thread_alone_is_a_warning():
    source = ROW.replace("    fence();\n", "")
    source = source.replace("if (t == 0) {", "if (t == 0) {\n        fence();")
    (found,) = races_of_row(source)
    assert (found.level, found.count) == ("warning", 31)


def test_what_a_bulk_copy_brought_needs_no_fence():
    x = ck.to_device(ramp(200).reshape(10, 20))
    out = ck.to_device(np.zeros((8, 16), np.float32))
    arguments = ck.tensor_map(x, (8, 16)), ck.tensor_map(out, (8, 16))
    assert list(ck.racecheck(kernel(THROUGH), 1, 32, arguments)) == []
    kernel(THROUGH)[1, 32](*arguments)
    np.testing.assert_array_equal(ck.to_host(out), ck.to_host(x)[2:, 4:])
