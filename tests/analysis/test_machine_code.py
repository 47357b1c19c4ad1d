"""Shared-memory counts agree with the machine code, or say that they may not."""

import json
from collections import Counter

import numpy as np
import pytest
import shared_kernels

import coursekit as ck
from coursekit import paths
from coursekit.analysis.machine_code import __main__ as shipping
from coursekit.analysis.machine_code import machine, plans, shipped
from coursekit.simt.analysis import wide_accesses
from coursekit.toolchain import sass

needs_nvdisasm = pytest.mark.skipif(
    sass.find_disassembler() is None, reason="nvdisasm is not installed"
)


def count(source, grid, block, *arguments, shared_bytes=0):
    module = ck.compile(source)
    return ck.count(module["k"], grid, block, arguments, shared_bytes=shared_bytes)


def tiled(tile):
    matrix = np.zeros((64, 64), np.float32)
    source = shared_kernels.TILED.replace("TILE", str(tile))
    grid = (64 // tile, 64 // tile)
    return count(source, grid, (tile, tile), matrix, matrix, matrix.copy(), 64)


@pytest.fixture
def no_disassembler(monkeypatch, tmp_path):
    """Neither nvdisasm nor plans that it made before."""
    monkeypatch.setenv("COURSEKIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(sass, "find_disassembler", lambda: None)


# -- what the disassembler is asked ---------------------------------------------------


@pytest.fixture
def asked(monkeypatch, tmp_path):
    """Options of each run of the disassembler; nothing is known from before."""
    monkeypatch.setenv("COURSEKIT_CACHE", str(tmp_path / "cache"))
    commands, run = [], sass._run
    monkeypatch.setattr(sass, "_run", lambda c: commands.append(c[1:-1]) or run(c))
    return commands


@needs_nvdisasm
def test_all_kernels_of_a_file_are_disassembled_at_once(asked):
    body = "(int* x) { __shared__ int s[32]; s[*x] = 1; *x = s[x[1]]; }"
    module = ck.compile(f"__global__ void a{body}\n__global__ void b{body}")
    for name in "ab":
        ck.count(module[name], 1, 1, (np.arange(2, dtype=np.int32),))
    assert asked == [["-c", "-gi", "-ndf"]]


@needs_nvdisasm
def test_where_jumps_by_a_register_go_is_asked_for(asked):
    cases = "".join(
        f"case {n}: s[i ^ {n}] = x[{n}] * i; __syncthreads(); x[i] /= s[{n}]; break;"
        for n in range(12)
    )
    source = f"""__global__ void k(int* x, int way) {{
      __shared__ int s[64];
      int i = threadIdx.x;
      switch (way) {{ {cases} }}
    }}"""
    text = ck.compile(source).machine_listing("sm_90")
    assert "BRX" in text and "BRANCH_TARGETS" in text
    assert asked == [["-c", "-gi", "-ndf"], ["-c", "-gi"]]


# -- counts in closed form -----------------------------------------------------------


# For each of a warp's tiles: `tile` reads of b_tile, one wavefront each, and
# tile / 4 reads of four values of a_tile, two wavefronts each.
@needs_nvdisasm
@pytest.mark.parametrize(("tile", "warp_tiles"), [(16, 16 * 8 * 4), (32, 4 * 32 * 2)])
def test_reads_along_a_row_of_a_tile_are_counted_four_at_a_time(tile, warp_tiles):
    counts = tiled(tile)
    assert counts.shared_load_requests == warp_tiles * (tile + tile // 4)
    assert counts.shared_load_wavefronts == warp_tiles * (tile + tile // 2)
    assert counts.shared_load_bank_conflicts == 0


@needs_nvdisasm
@pytest.mark.parametrize("field", ["requests", "wavefronts", "bank_conflicts"])
def test_counts_that_the_machine_code_confirms_are_labelled_sass(field):
    assert tiled(16).label(f"shared_load_{field}") == "sass"


def test_without_a_disassembler_the_ptx_is_counted(no_disassembler):
    counts = tiled(16)
    assert counts.shared_load_requests == 16 * 8 * 4 * 32
    assert counts.label("shared_load_requests") == "ptx"


# A warp reads two columns of 4 values of a, 16 of b, in each of 64 steps.
@needs_nvdisasm
@pytest.mark.parametrize("name", ["REGISTERS", "REGISTERS_FLOAT4"])
def test_patches_in_registers_read_four_values_at_a_time(name):
    matrix = np.zeros((64, 64), np.float32)
    source = getattr(shared_kernels, name)
    counts = count(source, 1, 256, matrix, matrix, matrix.copy(), 64)
    assert counts.shared_load_requests == 8 * 64 * 2
    assert counts.shared_load_wavefronts == 8 * 64 * (2 + 4)
    assert counts.label("shared_load_wavefronts") == "sass"


@needs_nvdisasm
def test_unaligned_neighbours_are_read_one_by_one():
    x = np.zeros(256, np.float32)
    counts = count(shared_kernels.REDUCTION, 1, 256, x, np.zeros(1, np.float32))
    # Warps with work in 8 steps: 4 + 2 + 1 and five times 1; two reads each.
    assert counts.shared_load_requests == 2 * 12 + 1
    assert counts.label("shared_load_requests") == "sass"


@needs_nvdisasm
def test_three_words_are_read_as_four_and_written_as_a_pair_and_one():
    x = np.zeros(32, np.float32)
    counts = count(shared_kernels.THREE_WORDS, 1, 32, x, x.copy())
    found = counts.shared_load_requests, counts.shared_load_wavefronts
    assert found == (1, 4)
    assert counts.shared_store_requests == 2


@needs_nvdisasm
def test_transposing_through_a_tile_joins_nothing():
    source = """__global__ void k(float* out) {
      __shared__ float tile[32][32 + 1];
      tile[threadIdx.y][threadIdx.x] = threadIdx.x;
      __syncthreads();
      out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
    }"""
    counts = count(source, 1, (32, 32), np.zeros(1024, np.float32))
    assert counts.shared_load_requests == counts.shared_load_wavefronts == 32
    assert counts.label("shared_load_requests") == "sass"


def test_a_kernel_without_shared_memory_counts_none_exactly():
    source = "__global__ void k(float* x) { x[threadIdx.x] = 1; }"
    counts = count(source, 1, 32, np.zeros(32, np.float32))
    assert counts.label("shared_load_requests") == "exact"


# -- what cannot be confirmed --------------------------------------------------------


def test_a_read_that_machine_code_makes_unconditional_is_a_ptx_count():
    x = np.zeros(32, np.float32)
    counts = count(shared_kernels.MADE_UNCONDITIONAL, 1, 32, x, x.copy())
    assert counts.label("shared_load_requests") == "ptx"


@needs_nvdisasm
@pytest.mark.parametrize(("step", "label"), [(0, "sass"), (1, "ptx")])
def test_a_loop_unrolled_again_is_confirmed_if_all_lanes_leave_together(step, label):
    counts = count(
        shared_kernels.UNROLLED, 1, 32,
        np.arange(20, 52, dtype=np.int32) * step + 24 * (1 - step),
        np.zeros(32, np.float32), shared_bytes=256,
    )  # fmt: skip
    assert counts.label("shared_load_requests") == label


@needs_nvdisasm
@pytest.mark.parametrize(("value", "label"), [("t + 1", "sass"), ("1", "ptx")])
def test_shared_additions_are_confirmed_but_not_increments(value, label):
    source = shared_kernels.ATOMICS.replace("VALUE", value)
    index, out = np.arange(32, dtype=np.int32) // 2, np.zeros(32, np.int32)
    counts = count(source, 1, 32, index, out)
    assert counts.label("shared_atomic_requests") == label
    assert counts.label("shared_atomic_wavefronts") == label


@needs_nvdisasm
def test_warps_that_may_meet_at_a_shared_word_are_not_confirmed():
    source = shared_kernels.ATOMICS.replace("VALUE", "t + 1").replace("64", "96")
    index, out = np.arange(64, dtype=np.int32) // 2, np.zeros(64, np.int32)
    counts = count(source, 1, 64, index, out)
    assert counts.label("shared_atomic_requests") == "sass"
    assert counts.label("shared_atomic_wavefronts") == "ptx"


@pytest.mark.parametrize(("space", "label"), [("", "ptx"), (".global", "exact")])
def test_hardware_counts_atomics_on_generic_addresses_among_the_shared(space, label):
    source = f"""__global__ void k(int* x) {{
      asm volatile("{{ .reg .s32 r; atom{space}.add.s32 r, [%0], 1; }}" :: "l"(x));
    }}"""
    counts = count(source, 1, 32, np.zeros(1, np.int32))
    assert counts.label("shared_atomic_wavefronts") == label


@needs_nvdisasm
def test_a_float_addition_makes_reads_that_the_ptx_has_not():
    source = shared_kernels.ATOMICS.replace("int", "float").replace("VALUE", "1.5f")
    source = source.replace("const float* index", "const int* index")
    source = source.replace("float t =", "int t =")
    index, out = np.arange(32, dtype=np.int32), np.zeros(32, np.float32)
    counts = count(source, 1, 32, index, out)
    assert counts.label("shared_load_requests") == "ptx"
    assert counts.label("shared_atomic_requests") == "ptx"


def test_generic_addresses_are_ptx_counts():
    source = """__global__ void k(float* x, int n) {
      __shared__ float s[32];
      s[threadIdx.x] = 1;
      __syncthreads();
      const float* p = n > 3 ? s : x;
      x[threadIdx.x] = p[threadIdx.x ^ 1];
    }"""
    counts = count(source, 1, 32, np.zeros(32, np.float32), 5)
    assert counts.shared_load_requests == 1
    assert counts.label("shared_load_requests") == "ptx"


# -- the rule ------------------------------------------------------------------------

PATTERNS = [
    ("float", (0, 1)), ("float", (1, 2)), ("float", (2, 3)), ("float", (0, 2)),
    ("float", (0, 1, 2)), ("float", (1, 2, 3)), ("float", (0, 1, 3)),
    ("float", (1, 2, 3, 4)), ("float", (2, 3, 4, 5)), ("float", (0, 1, 5)),
    ("float", (0, 1, 2, 3, 4, 5, 6)), ("float", (3, 2, 1, 0)), ("int", (0, 1, 2, 3)),
    ("double", (0, 1)), ("double", (0, 2)), ("double", (0, 1, 2)),
    ("short", (0, 1)), ("short", (1, 2)), ("short", (2, 3)), ("short", (0, 1, 2)),
    ("short", (0, 3)), ("short", (0, 1, 2, 3, 4, 5, 6, 7)), ("short", (0, 2, 4, 6)),
    ("unsigned char", (0, 1, 2, 3)),
]  # fmt: skip


@pytest.fixture(scope="module")
def patterns():
    """One kernel for each pattern of reads, in one module."""
    kernels = []
    for number, (kind, offsets) in enumerate(PATTERNS):
        reads = " * ".join(f"s[8 * (t ^ 1) + {offset}]" for offset in offsets)
        kernels.append(
            f"""__global__ void k{number}({kind}* x) {{
              __shared__ {kind} s[512];
              int t = threadIdx.x;
              for (int i = 0; i < 16; ++i) s[t + 32 * i] = x[t + 32 * i];
              __syncthreads();
              x[t] = {reads};
            }}"""
        )
    module = ck.compile("\n".join(kernels))
    return module, machine.read(module.disassemble("sm_90", lines=True))


@needs_nvdisasm
@pytest.mark.parametrize("number", range(len(PATTERNS)))
def test_the_rule_predicts_what_the_assembler_joins(patterns, number):
    module, found = patterns
    kernel = module[f"k{number}"]
    loads = [a for a in plans.shared_accesses(kernel) if a.kind == "load"]
    groups = wide_accesses.groups(loads, wide_accesses.Style(halves=True))
    joined = {index for group in groups for index in group.members}
    predicted = [a.width for a in loads if a.index not in joined]
    predicted += [group.width for group in groups]
    real = [m.width for m in found[kernel.lowered_name] if m.kind == "load"]
    assert Counter(predicted) == Counter(real)


# -- shipped plans -------------------------------------------------------------------


@pytest.fixture
def course(monkeypatch, tmp_path):
    """A course of one kernel that joins, with its plans shipped."""
    kernels = tmp_path / "kernels"
    (kernels / "matmul").mkdir(parents=True)
    file = kernels / "matmul" / "tiled.cu"
    file.write_text(shared_kernels.TILED.replace("TILE", "16"))
    monkeypatch.setattr(paths, "kernels", lambda: kernels)
    monkeypatch.setattr(shipped, "folder", lambda: tmp_path / "sass")
    shipping.main()
    return file


def label_of(file):
    matrix = np.zeros((64, 64), np.float32)
    counts = count(file, (4, 4), (16, 16), matrix, matrix, matrix.copy(), 64)
    return counts.label("shared_load_requests")


@needs_nvdisasm
def test_shipped_plans_serve_without_a_disassembler(course, request):
    request.getfixturevalue("no_disassembler")
    assert label_of(course) == "sass"


@needs_nvdisasm
def test_a_shipped_plan_does_not_serve_another_version(course, request):
    request.getfixturevalue("no_disassembler")
    course.write_text(course.read_text().replace("float sum = 0;", "float sum = n;"))
    assert label_of(course) == "ptx"


@needs_nvdisasm
def test_plans_of_kernels_that_are_gone_are_removed(course):
    file = shipped.file_of(course)
    course.unlink()
    shipping.main()
    assert not file.exists()


@pytest.mark.parametrize(
    "path", shipping.course_kernels(), ids=lambda p: f"{p.parent.name}/{p.name}"
)
def test_shipped_plans_are_those_of_the_kernels(path):
    module, file = ck.compile(path), shipped.file_of(path)
    kernels = [module[name] for name in module.kernels]
    if not any(plans.shared_accesses(kernel) for kernel in kernels):
        assert not file.exists()
        return
    content = json.loads(file.read_text())
    assert content["source_sha256"] == shipping.source_hash(module)
