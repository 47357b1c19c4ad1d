"""The kernels of CuTe and CUTLASS: their PTX belongs to their source, and is right.

The PTX runs on the simulator everywhere. Where the package nvidia-cutlass and nvcc
are, each source is compiled too: `make setup EXTRAS=libraries`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from math import erf

import library_ptx
import numpy as np
import pytest
from cuda_compiler import nvcc

import coursekit as ck

SOURCES = library_ptx.sources()
SLIDE_COLUMNS, PATIENCE_S = 76, 400
STAGES = 24_576  # bytes of shared memory of CUTLASS's three stages
# A sum of k products of halves in float32: each rounding is at most 2^-24 of the sum
# of magnitudes, which is below 16 * k here.
ROUNDING = 2.0**-24
each_source = pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
needs_headers = pytest.mark.skipif(
    library_ptx.headers() is None or nvcc() is None or shutil.which("g++") is None,
    reason="no nvcc, g++ or nvidia-cutlass here: make setup EXTRAS=libraries",
)


def load(name):
    """Return the kernel of a file, which has one."""
    module = ck.load_ptx(f"libraries/{name}.ptx")
    return module[name]


def halves(shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float16)


def close(found, expected, k):
    np.testing.assert_allclose(found, expected, atol=16 * k * k * ROUNDING, strict=True)


# ---------------------------------------------------------------- the files


@each_source
def test_ptx_was_made_of_this_source(path):
    ptx = path.with_suffix(".ptx").read_text(encoding="utf-8")
    first = ptx.partition("\n")[0] + "\n"
    assert first == library_ptx.head(path), "run tests/support/library_ptx.py"


def test_all_ptx_together_is_small():
    sizes = [path.with_suffix(".ptx").stat().st_size for path in SOURCES]
    assert sum(sizes) < library_ptx.MOST_BYTES


@each_source
def test_lines_fit_a_slide(path):
    text = path.read_text(encoding="utf-8")
    code = [line for line in text.split("\n") if not line.startswith("//")]
    assert [line for line in code if len(line) > SLIDE_COLUMNS] == []


@each_source
def test_header_says_what_and_how(path):
    text = path.read_text(encoding="utf-8")
    fields = set(re.findall(r"^// (\w+) {2,}", text, re.MULTILINE))
    assert {"What", "Build"} <= fields


# ---------------------------------------------------------------- the results


@pytest.mark.parametrize(("rows", "cols"), [(32, 32), (64, 96), (160, 32)])
def test_cute_transposes_without_bank_conflicts(rows, cols):
    x = np.arange(rows * cols, dtype=np.float32).reshape(rows, cols)
    out = np.zeros((cols, rows), np.float32)
    launch = (cols // 32, rows // 32), 256
    found = ck.count(load("cute_transpose"), *launch, (x, out, rows, cols))
    load("cute_transpose")[launch](x, out, rows, cols)
    np.testing.assert_array_equal(out, x.T, strict=True)
    assert found.shared_load_bank_conflicts == 0
    assert found.shared_store_bank_conflicts == 0
    assert found.global_store_sectors == rows * cols // 8


@pytest.mark.parametrize(("m", "n", "k"), [(64, 64, 32), (128, 64, 96)])
def test_cute_multiplies_on_tensor_cores(m, n, k):
    a, b, c = halves((m, k)), halves((n, k), 1), np.zeros((m, n), np.float32)
    load("cute_gemm")[(m // 64, n // 64), 128](a, b, c, m, n, k)
    close(c, (a.astype(float) @ b.astype(float).T).astype(np.float32), k)


@pytest.mark.parametrize(("m", "n", "k"), [(64, 64, 32), (100, 72, 40), (1, 8, 8)])
def test_cutlass_multiplies_matrices_of_ragged_sizes(m, n, k):
    a, b = halves((m, k)), halves((k, n), 1)
    c = np.random.default_rng(2).standard_normal((m, n)).astype(np.float32)
    d = np.zeros((m, n), np.float32)
    grid = -(-m // 64), -(-n // 64)
    arguments = m, n, k, a, k, b, n, c, n, d, n, 0.5, 2.0
    load("cutlass_gemm")[grid, 128, STAGES](*arguments)
    expected = 0.5 * (a.astype(float) @ b.astype(float)) + 2.0 * c
    close(d, expected.astype(np.float32), k)


def test_cutlass_multiplies_a_part_of_a_larger_matrix():
    a, b = halves((64, 64)), halves((32, 64), 1)
    d = np.zeros((64, 64), np.float32)
    load("cutlass_gemm")[(1, 1), 128, STAGES](
        64, 64, 32, a, 64, b, 64, d, 64, d, 64, 1.0, 0.0
    )
    close(d, (a[:, :32].astype(float) @ b.astype(float)).astype(np.float32), 32)


def test_visitor_tree_adds_the_bias_and_applies_gelu():
    m, n, k = 100, 72, 40
    a, b = halves((m, k)), halves((k, n), 1)
    bias = np.random.default_rng(2).standard_normal(n).astype(np.float32)
    d = np.zeros((m, n), np.float32)
    grid = -(-m // 64), -(-n // 64)
    load("cutlass_bias_gelu")[grid, 128, STAGES](m, n, k, a, b, bias, d)
    z = a.astype(float) @ b.astype(float) + bias
    expected = 0.5 * z * (1 + np.vectorize(erf)(z / 2**0.5))
    close(d, expected.astype(np.float32), k)


@pytest.mark.parametrize(
    ("n", "h", "w", "c", "f"), [(1, 8, 8, 16, 64), (2, 5, 7, 8, 12)]
)
def test_cutlass_convolves_as_a_matrix_product(n, h, w, c, f):
    x, filters = halves((n, h, w, c)), halves((f, 3, 3, c), 1)
    y = np.zeros((n, h, w, f), np.float32)
    grid = -(-n * h * w // 64), -(-f // 64)
    load("cutlass_conv")[grid, 128, STAGES](n, h, w, c, f, x, filters, y)
    padded = np.pad(x.astype(float), ((0, 0), (1, 1), (1, 1), (0, 0)))
    expected = np.zeros(y.shape)
    for r in range(3):
        for s in range(3):
            window = padded[:, r : r + h, s : s + w]
            expected += window @ filters[:, r, s].astype(float).T
    close(y, expected.astype(np.float32), 9 * c)


# ---------------------------------------------------------------- the compiler


@needs_headers
@each_source
def test_source_compiles_with_cutlass_of_today(path, tmp_path):
    target = tmp_path / "kernel.ptx"
    answer = library_ptx.compiled(path, "-ptx", "-arch=compute_90", "-o", target)
    assert answer.returncode == 0, answer.stderr[:2000]
    made, committed = (
        library_ptx.plain(p.read_text()) for p in (target, path.with_suffix(".ptx"))
    )
    release = re.compile(r"^// Cuda compilation tools.*", re.MULTILINE)
    same_compiler = release.findall(made) == release.findall(committed)
    same = without_hashes(made) == without_hashes(committed.partition("\n")[2])
    assert same or not same_compiler, "run tests/support/library_ptx.py"


def without_hashes(ptx):
    """Leave out what nvcc makes of the path of a file."""
    return re.sub(r"INTERNAL_\w+", "INTERNAL", ptx)


@needs_headers
def test_program_compiles_links_and_says_that_there_is_no_gpu(tmp_path):
    source = library_ptx.FOLDER / "cutlass_gemm.cu"
    program = tmp_path / "cutlass_gemm"
    command = [nvcc(), "-O3", "-std=c++17", "-arch=sm_80", "-o", program]
    command += [f"-I{library_ptx.headers()}", source]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr[:2000]
    run = subprocess.run(
        [program, "64"],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
        env=os.environ | {"CUDA_VISIBLE_DEVICES": "-1"},
    )
    assert run.returncode == 1
    assert re.match(r"\S*owners.h:\d+: cudaGetDeviceProperties", run.stderr)


# What people write and CUTLASS does not have; the chapter shows what nvcc says.
GEMM = """
#include <cutlass/gemm/device/gemm.h>
using Half = cutlass::half_t;
using Row = cutlass::layout::RowMajor;
"""
BEFORE = "using Gemm = cutlass::gemm::device::Gemm<Half, Row, Half, Row, float, Row, "
TENSOR = "cutlass::arch::OpClassTensorOp, cutlass::arch::Sm80"
TILES = "cutlass::gemm::GemmShape<64, 64, 32>, cutlass::gemm::GemmShape<32, 32, 32>"
REFUSED = {
    "a type for D": (
        f"{GEMM}{BEFORE} float, Row, float, {TENSOR}>; Gemm gemm;",
        "incomplete type .*DefaultGemmConfiguration<Row, float, Half, Half,",
    ),
    "8 x 8 x 4 halves": (
        f"{GEMM}{BEFORE} float, {TENSOR}, {TILES}, "
        "cutlass::gemm::GemmShape<8, 8, 4>>; Gemm gemm;",
        r"incomplete type .*cutlass::arch::Mma<",
    ),
    "arguments in a row": (
        f"{GEMM}{BEFORE} float, {TENSOR}>;\n"
        "void run(Half *A, float *C) { Gemm gemm;\n"
        "gemm({64, 64, 64}, 1.0f, A, 64, A, 64, 0.0f, C, 64, C, 64); }",
        r"no instance of overloaded function",
    ),
    "a functor as epilogue": (
        f"{GEMM}struct BiasGelu {{ __device__ float operator()(float x) const "
        f"{{ return x; }} }};\n{BEFORE} float, {TENSOR}, {TILES}, "
        "cutlass::gemm::GemmShape<16, 8, 16>, BiasGelu>; Gemm gemm;",
        'class "BiasGelu" has no member "kCount"',
    ),
    "device::Conv2dFprop": (
        "#include <cutlass/conv/kernel/default_conv2d_fprop.h>\n"
        "#include <cutlass/conv/device/implicit_gemm_convolution.h>\n"
        "using Conv = cutlass::conv::device::Conv2dFprop<float>;",
        'namespace "cutlass::conv::device" has no member "Conv2dFprop"',
    ),
    "TensorNHWC<float>": (
        "#include <cutlass/layout/tensor.h>\n"
        "using Layout = cutlass::layout::TensorNHWC<float>;",
        "may not have a template argument list",
    ),
}


@needs_headers
@pytest.mark.parametrize("name", REFUSED)
def test_what_nvcc_says_of_code_that_people_write(name, tmp_path):
    text, words = REFUSED[name]
    source = tmp_path / "refused.cu"
    source.write_text(text, encoding="utf-8")
    answer = library_ptx.compiled(source, "-ptx", "-arch=compute_80", "-o", os.devnull)
    assert answer.returncode != 0
    assert re.search(words, answer.stdout + answer.stderr)
