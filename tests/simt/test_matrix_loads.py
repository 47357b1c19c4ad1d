"""Loads of matrices from shared memory by a warp: `ldmatrix`."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import coursekit as ck
from coursekit import errors
from coursekit.runtime.launching import simulate


@pytest.fixture(autouse=True)
def on_simulator(request):
    """Run what does not ask for a backend on the simulator."""
    if "backend" not in request.fixturenames:
        request.getfixturevalue("simulated")


WRITE = "tile[8 * (31 - lane)] = 1;"  # a row that another lane names
STRIDE = 24  # elements from row to row: 48 bytes, so that 8 rows take every bank once
FORMS = [(count, trans) for count in (1, 2, 4) for trans in (False, True)]
every_form = pytest.mark.parametrize(("count", "trans"), FORMS)


def source(count: int, trans: bool, before: str = "", address: str = "shared") -> str:
    """A kernel that stores what each lane gets of `count` matrices, one below another.

    `before` is executed between the barrier and the load; `address` is "shared" for an
    address in shared memory, or "" for a generic one.
    """
    words = ", ".join(f"%{k}" for k in range(count))
    outputs = ", ".join(f'"=r"(v[{k}])' for k in range(count))
    name = ".".join(
        [f"ldmatrix.sync.aligned.m8n8.x{count}"]
        + ["trans"] * trans
        + [address] * bool(address)
        + ["b16"]
    )
    pointer = '"r"((unsigned)__cvta_generic_to_shared(row))'
    pointer = pointer if address else '"l"(row)'
    return f"""
    extern "C" __global__ void k(const unsigned short* given, unsigned* out,
                                 int stride, int shift) {{
        __shared__ __align__(16) unsigned short tile[32 * 64 + 8];
        int lane = threadIdx.x;
        for (int i = lane; i < 32 * stride; i += blockDim.x) tile[i] = given[i];
        __syncthreads();
        const void* row = tile + (lane % {8 * count}) * stride + shift;
        unsigned v[4] = {{}};
        {before}
        asm volatile("{name} {{{words}}}, [%{count}];"
            : {outputs} : {pointer} : "memory");
        for (int k = 0; k < {count}; ++k) out[32 * k + lane] = v[k];
    }}
    """


@functools.cache
def kernel(count: int, trans: bool, before: str = "", address: str = "shared"):
    return ck.compile(source(count, trans, before, address))["k"]


def given(stride: int = STRIDE) -> np.ndarray:
    """Rows of 8 elements that stand `stride` apart, and what lies between them."""
    random = np.random.default_rng(7)
    return random.integers(0, 1 << 16, (32, stride), np.uint16)


def run(launched, tile, count: int, *, stride=STRIDE, shift=0, threads=32):
    """What the lanes get, (count, 32) words."""
    out = np.zeros((count, 32), np.uint32)
    launched[1, threads](tile, out, stride, shift)
    return out


def reference(tile: np.ndarray, count: int, trans: bool) -> np.ndarray:
    """The words of all lanes, as the figures of the PTX manual show them."""
    found = np.zeros((count, 32), np.uint32)
    for matrix in range(count):
        values = tile[8 * matrix : 8 * matrix + 8, :8].astype(np.uint32)
        values = values.T if trans else values
        for lane in range(32):
            row, column = lane // 4, 2 * (lane % 4)
            low, high = values[row, column], values[row, column + 1]
            found[matrix, lane] = low | high << np.uint32(16)
    return found


@every_form
@pytest.mark.parametrize("address", ["shared", ""])
def test_lanes_get_the_fragments_of_the_manual(count, trans, address, backend):
    tile = given()
    found = run(kernel(count, trans, address=address), tile, count)
    np.testing.assert_array_equal(found, reference(tile, count, trans), strict=True)


ENGINES = ("interpreter", "compiled", "general")


def in_engine(engine: str, count: int, trans: bool, stride: int = STRIDE):
    """Launch in one engine; return the result and the words."""
    launched, tile = kernel(count, trans), given(stride)
    out = np.zeros((count, 32), np.uint32)
    done = simulate(
        launched, 1, 32, (tile, out, stride, 0), counters=True, engine=engine
    )
    ((_, buffer, _),) = [copy for copy in done.staged.copies if copy[0].position == 1]
    words = buffer.read(0, out.nbytes).view(np.uint32).reshape(out.shape)
    return done.result, words


@every_form
@pytest.mark.parametrize("engine", ENGINES)
def test_engines_give_the_same_fragments(engine, count, trans):
    result, words = in_engine(engine, count, trans)
    assert result.engine == ("interpreter" if engine == "interpreter" else "compiled")
    np.testing.assert_array_equal(words, reference(given(), count, trans), strict=True)


@pytest.mark.parametrize("stride", [STRIDE, 64])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_engines_count_alike(count, stride):
    counts = [in_engine(engine, count, False, stride)[0].counters for engine in ENGINES]
    assert counts[0] == counts[1] == counts[2]


def counted(count: int, stride: int):
    out = np.zeros((count, 32), np.uint32)
    return ck.count(kernel(count, False), 1, 32, (given(stride), out, stride, 0))


@pytest.mark.parametrize("count", [1, 2, 4])
def test_rows_in_different_banks_take_a_wavefront_for_each_matrix(count):
    found = counted(count, STRIDE)
    assert found.shared_load_requests == 1
    assert found.shared_load_wavefronts == count
    assert found.shared_load_bank_conflicts == 0


@pytest.mark.parametrize("count", [1, 2, 4])
def test_rows_in_the_same_banks_take_a_wavefront_each(count):
    found = counted(count, 64)
    assert found.shared_load_wavefronts == 8 * count
    assert found.shared_load_bank_conflicts == 7 * count


def test_counts_of_matrix_loads_are_those_of_the_ptx():
    assert counted(4, STRIDE).label("shared_load_wavefronts") == "ptx"


@pytest.mark.parametrize(
    ("before", "threads", "where"),
    [("if (lane == 5) return;", 32, "is elsewhere"), ("", 24, "does not exist")],
)
def test_load_without_a_lane_is_an_error(before, threads, where):
    with pytest.raises(errors.BarrierError, match=f"loads matrices .* {where}"):
        run(kernel(1, False, before), given(), 1, threads=threads)


def test_row_that_is_not_aligned_to_16_bytes_is_an_error():
    with pytest.raises(errors.OutOfBoundsError, match="multiple of 16"):
        run(kernel(1, False), given(), 1, shift=1)


def test_row_beyond_the_array_is_an_error():
    with pytest.raises(errors.OutOfBoundsError, match="tile"):
        run(kernel(2, False), given(), 2, shift=32 * 64)


def test_addresses_of_lanes_that_give_none_are_not_looked_at():
    tile = given()
    found = run(kernel(1, False, "if (lane > 7) row = 0;"), tile, 1)
    np.testing.assert_array_equal(found, reference(tile, 1, False), strict=True)


def test_matrix_in_global_memory_is_an_error():
    launched = kernel(1, False, "row = given;", "")
    with pytest.raises(errors.OutOfBoundsError, match="not shared memory"):
        run(launched, given(), 1)


def test_other_shapes_are_refused():
    text = source(1, False).replace("m8n8.x1", "m16n16.x1.trans").replace("b16", "b8")
    text = text.replace("{%0}, [%1]", "{%0, %0}, [%1]")
    launched = ck.compile(text, arch="sm_100a")["k"]
    with pytest.raises(errors.UnsupportedError, match="has no `ldmatrix"):
        run(launched, given(), 1)


@pytest.mark.parametrize(
    ("before", "kinds"),
    [("", 0), (f"{WRITE} __syncwarp();", 0), (WRITE, 1)],
)
def test_racecheck_sees_which_rows_are_read(before, kinds):
    out = np.zeros((4, 32), np.uint32)
    found = ck.racecheck(kernel(4, False, before), 1, 32, (given(8), out, 8, 0))
    assert len(found) == kinds


@pytest.mark.parametrize(("stride", "errors_found"), [(8, 0), (4, 1)])
def test_initcheck_reports_rows_that_nobody_wrote(stride, errors_found):
    # With a stride of 4 the 32 rows overlap, and the last ends behind what is written.
    before = "row = tile + 8 * (lane / 8 * 8 + lane % 8);"
    out = np.zeros((4, 32), np.uint32)
    arguments = given(stride), out, stride, 0
    found = ck.initcheck(kernel(4, False, before), 1, 32, arguments)
    assert len(found) == errors_found


PRODUCT = """
typedef unsigned short Bits;
extern "C" __global__ void k(const Bits* a, const Bits* b, float* d) {
    __shared__ __align__(16) unsigned short left[16][24], right[16][8];
    int lane = threadIdx.x;
    for (int i = lane; i < 256; i += 32) left[i / 16][i % 16] = a[i];
    for (int i = lane; i < 128; i += 32) right[i / 8][i % 8] = b[i];
    __syncwarp();
    unsigned u[4], v[2];
    float c[4] = {};
    unsigned from = __cvta_generic_to_shared(&left[lane % 16][lane / 16 * 8]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
        : "=r"(u[0]), "=r"(u[1]), "=r"(u[2]), "=r"(u[3]) : "r"(from) : "memory");
    from = __cvta_generic_to_shared(&right[lane % 16][0]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
        : "=r"(v[0]), "=r"(v[1]) : "r"(from) : "memory");
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(u[0]), "r"(u[1]), "r"(u[2]), "r"(u[3]), "r"(v[0]), "r"(v[1]));
    for (int k = 0; k < 4; ++k)
        d[(lane / 4 + 8 * (k / 2)) * 8 + lane % 4 * 2 + k % 2] = c[k];
}
"""


def test_loads_feed_a_product_of_matrices():
    random = np.random.default_rng(2)
    a, b = (random.integers(-8, 8, s).astype(np.float16) for s in ((16, 16), (16, 8)))
    d = np.zeros((16, 8), np.float32)
    ck.compile(PRODUCT)["k"][1, 32](a.view(np.uint16), b.view(np.uint16), d)
    # Sums of 16 products of whole numbers of at most 8 are exact.
    wanted = a.astype(np.float32) @ b.astype(np.float32)
    np.testing.assert_array_equal(d, wanted, strict=True)
