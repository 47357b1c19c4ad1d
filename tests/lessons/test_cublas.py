"""cuBLAS's oracle: layouts, roundings, and what the library would refuse."""

from __future__ import annotations

import numpy as np
import pytest

from coursekit.errors import ArgumentError
from coursekit.lessons import cublas, formats
from coursekit.lessons.cublas import arithmetic, numeric_types

RNG = np.random.default_rng


def columns(rows, cols, *, ld=None, dtype=np.float32, seed=1):
    """Return memory of a matrix by columns, with gaps of NaN, and the matrix."""
    ld = ld or rows
    memory = np.full(ld * cols, np.nan, dtype)
    values = RNG(seed).standard_normal((rows, cols)).astype(dtype)
    for j in range(cols):
        memory[j * ld : j * ld + rows] = values[:, j]
    return memory, values


# ---------------------------------------------------------------- types


def test_bf16_of_the_oracle_is_bf16_of_the_formats():
    values = RNG(0).standard_normal(200).astype(np.float32) * 1e3
    wanted = [formats.BF16.bits(float(v)) for v in values]
    assert cublas.store(values, "R_16BF").tolist() == wanted


def test_ties_go_to_even_in_bf16():
    values = np.float32([1 + 2**-8, 1 + 3 * 2**-8])
    assert cublas.store(values, "R_16BF").tolist() == [0x3F80, 0x3F82]


@pytest.mark.parametrize("name", numeric_types.HELD_IN)
def test_small_whole_numbers_survive_every_type(name):
    values = np.array([0, 1, -2, 4, 7])
    assert cublas.load(cublas.store(values, name), name).tolist() == values.tolist()


def test_e4m3_saturates():
    assert cublas.load(cublas.store([1000.0], "R_8F_E4M3"), "R_8F_E4M3") == 448


def test_int8_is_rounded_and_clipped():
    assert cublas.store([1.6, 300, -300], "R_8I").tolist() == [2, 127, -128]


def test_unknown_type_names_those_there_are():
    with pytest.raises(ArgumentError, match="R_16BF"):
        cublas.store([1.0], "R_4F")


def test_array_of_another_type_is_refused():
    with pytest.raises(ArgumentError, match=r"reads R_16F, but .* holds float32"):
        cublas.load(np.zeros(1, np.float32), "R_16F")


def test_three_parts_of_bf16_are_the_number():
    values = RNG(0).standard_normal(500).astype(np.float32)
    parts = numeric_types.three_parts(values)
    assert (sum(p.astype(np.float64) for p in parts) == values).all()


# ---------------------------------------------------------------- levels 1 and 2


def test_axpy_goes_by_its_increments():
    x, y = np.arange(8, dtype=np.float32), np.ones(6, np.float32)
    call = cublas.axpy(3, 2.0, x, 3, y, 2)
    assert y.tolist() == [1, 1, 7, 1, 13, 1]
    assert (call.name, call.operations, call.bytes_needed) == ("cublasSaxpy", 6, 36)


def test_dot_and_nrm2_write_their_result():
    x, out = np.array([3.0, 4.0]), np.zeros(1)
    assert cublas.dot(2, x, 1, x, 1, out).name == "cublasDdot"
    assert out[0] == 25
    cublas.nrm2(2, x, 1, out)
    assert out[0] == 5


@pytest.mark.parametrize("trans", ["N", "T"])
def test_gemv_reads_by_columns(trans):
    memory, a = columns(5, 3, ld=7)
    a = a if trans == "N" else a.T
    x, y = np.arange(1, a.shape[1] + 1, dtype=np.float32), np.ones(5, np.float32)
    cublas.gemv(trans, 5, 3, 2.0, memory, 7, x, 1, 0.5, y, 1)
    wanted = 2 * a.astype(np.float64) @ x + 0.5
    np.testing.assert_allclose(y[: a.shape[0]], wanted, rtol=1e-5)


def test_increment_of_zero_is_refused():
    with pytest.raises(ArgumentError, match="incx is 0"):
        cublas.axpy(2, 1.0, np.ones(2), 0, np.ones(2), 1)


def test_mixed_types_are_refused():
    with pytest.raises(ArgumentError, match="float32, float64"):
        cublas.axpy(2, 1.0, np.ones(2, np.float32), 1, np.ones(2), 1)


# ---------------------------------------------------------------- level 3


@pytest.mark.parametrize("transa", "NT")
@pytest.mark.parametrize("transb", "NT")
def test_gemm_with_gaps_and_transposes(transa, transb):
    m, n, k = 5, 4, 3
    a_memory, a = columns(*((m, k) if transa == "N" else (k, m)), ld=8)
    b_memory, b = columns(*((k, n) if transb == "N" else (n, k)), ld=6, seed=2)
    c_memory, c = columns(m, n, ld=7, seed=3)
    cublas.gemm(
        transa, transb, m, n, k, 2.0, a_memory, 8, b_memory, 6, 0.5, c_memory, 7
    )
    a, b = a if transa == "N" else a.T, b if transb == "N" else b.T
    wanted = 2 * a.astype(np.float64) @ b + 0.5 * c.astype(np.float64)
    found = c_memory.reshape(n, 7).T
    np.testing.assert_allclose(found[:m], wanted, rtol=1e-4, atol=1e-5)
    assert np.isnan(found[m:]).all()


def test_beta_zero_does_not_read_c():
    a, c = np.eye(2, dtype=np.float32), np.full((2, 2), np.nan, np.float32)
    cublas.gemm("N", "N", 2, 2, 2, 1.0, a, 2, a, 2, 0.0, c, 2)
    assert (c == a).all()


def test_row_major_product_swaps_the_factors():
    a = RNG(1).standard_normal((3, 5)).astype(np.float32)
    b = RNG(2).standard_normal((5, 4)).astype(np.float32)
    c = np.zeros((3, 4), np.float32)
    cublas.gemm("N", "N", 4, 3, 5, 1.0, b, 4, a, 5, 0.0, c, 4)
    np.testing.assert_allclose(c, a @ b, rtol=1e-5, atol=1e-6)


def test_short_leading_dimension_names_status_and_column():
    a = np.ones(6, np.float32)
    with pytest.raises(ArgumentError, match="INVALID_VALUE: lda is 2.* 3 elements"):
        cublas.gemm("N", "N", 3, 2, 2, 1.0, a, 2, a, 2, 0.0, np.ones(6, np.float32), 3)


def test_reading_beyond_an_array_is_an_error():
    a = np.ones(6, np.float32)
    with pytest.raises(ArgumentError, match=r"reaches A\[7\], but A has 6 elements"):
        cublas.gemm("N", "N", 3, 2, 2, 1.0, a, 5, a, 2, 0.0, np.ones(6, np.float32), 3)


def test_view_with_gaps_is_refused():
    a, c = np.ones((4, 4), np.float32), np.ones((2, 2), np.float32)
    with pytest.raises(ArgumentError, match="view with gaps"):
        cublas.gemm("N", "N", 2, 2, 2, 1.0, a[:2, :2], 4, a, 4, 0.0, c, 2)


# ---------------------------------------------------------------- compute types


def product_by(name, a, b):
    a, b = np.float32(a), np.float32(b)
    c = np.zeros((a.shape[0], b.shape[1]), np.float32)
    (m, k), n = a.shape, b.shape[1]
    a, b = np.asfortranarray(a), np.asfortranarray(b)
    c = np.asfortranarray(c)
    cublas.gemm_ex(
        "N", "N", m, n, k, 1.0, a, "R_32F", m, b, "R_32F", k, 0.0, c, "R_32F", m, name
    )
    return c


@pytest.mark.parametrize(
    ("name", "bits"),
    [
        ("COMPUTE_32F_FAST_16F", 11),
        ("COMPUTE_32F_FAST_TF32", 11),
        ("COMPUTE_32F_FAST_16BF", 8),
    ],
)
def test_fast_types_round_their_inputs(name, bits):
    finest = 1 + 2.0 ** (1 - bits)
    assert product_by(name, [[finest]], [[1]])[0, 0] == finest
    assert product_by(name, [[1 + 2.0**-bits]], [[1]])[0, 0] == 1


def test_half_overflows_where_tf32_does_not():
    big = [[1e5]]
    assert np.isinf(product_by("COMPUTE_32F_FAST_16F", big, [[1]])[0, 0])
    assert np.isfinite(product_by("COMPUTE_32F_FAST_TF32", big, [[1]])[0, 0])


def test_nine_products_are_as_good_as_float32():
    a, b = RNG(1).standard_normal((2, 16, 256))
    exact = a.astype(np.float32).astype(np.float64) @ b.T.astype(np.float32)
    errors = {
        name: np.abs(product_by(name, a, b.T) - exact).max()
        for name in ("COMPUTE_32F", "COMPUTE_32F_EMULATED_16BFX9")
    }
    assert errors["COMPUTE_32F_EMULATED_16BFX9"] < 2 * errors["COMPUTE_32F"]


def test_half_sums_stop_growing():
    ones = np.ones((1, 4096), np.float16)
    c = np.zeros(1, np.float16)
    cublas.gemm_ex(
        "N", "N", 1, 1, 4096, 1.0, ones, "R_16F", 1, ones, "R_16F", 4096, 0.0, c,
        "R_16F", 1, "COMPUTE_16F",
    )  # fmt: skip
    assert c[0] == 4096
    thirds = np.full((1, 4096), 1 / 3, np.float16)
    cublas.gemm_ex(
        "N", "N", 1, 1, 4096, 1.0, thirds, "R_16F", 1, ones, "R_16F", 4096, 0.0, c,
        "R_16F", 1, "COMPUTE_16F",
    )  # fmt: skip
    assert abs(float(c[0]) - 4096 / 3) > 1


def int8_product(ld, alpha=1):
    a = np.full(4 * ld, 100, np.int8)
    c = np.zeros(16, np.int32)
    cublas.gemm_ex(
        "T", "N", 4, 4, 4, alpha, a, "R_8I", ld, a, "R_8I", ld, 0, c, "R_32I", 4,
        "COMPUTE_32I",
    )  # fmt: skip
    return c


def test_int8_sums_are_whole_numbers_of_32_bits():
    assert int8_product(4).tolist() == [40000] * 16


@pytest.mark.parametrize(("ld", "alpha"), [(5, 1), (4, 0.5)])
def test_int8_asks_for_fours_and_whole_scales(ld, alpha):
    with pytest.raises(ArgumentError, match="COMPUTE_32I"):
        int8_product(ld, alpha)


def test_data_type_as_compute_type_is_explained():
    with pytest.raises(ArgumentError, match="computeType says how"):
        product_by("R_32F", [[1]], [[1]])


def test_half_compute_takes_no_float32():
    with pytest.raises(ArgumentError, match="NOT_SUPPORTED: COMPUTE_16F"):
        product_by("COMPUTE_16F", [[1]], [[1]])


def test_fp8_is_sent_to_cublaslt():
    a = cublas.store(np.ones(1), "R_8F_E4M3")
    with pytest.raises(ArgumentError, match="only cuBLASLt takes"):
        cublas.gemm_ex(
            "N", "N", 1, 1, 1, 1, a, "R_8F_E4M3", 1, a, "R_8F_E4M3", 1, 0,
            np.ones(1, np.float32), "R_32F", 1, "COMPUTE_32F",
        )  # fmt: skip


def test_old_algorithms_are_told():
    a = np.ones(1, np.float32)
    with pytest.raises(ArgumentError, match="ignores them since Ampere"):
        cublas.gemm_ex(
            "N", "N", 1, 1, 1, 1, a, "R_32F", 1, a, "R_32F", 1, 0, a, "R_32F", 1,
            "COMPUTE_32F", "GEMM_ALGO3",
        )  # fmt: skip


def test_sum_rounds_after_each_chunk():
    rule = numeric_types.ComputeType(np.float16, ("R_16F",), 64, chunk=1)
    a, b = np.array([[2048.0, 1, 1]]), np.ones((3, 1))
    assert arithmetic.product(a, b, rule)[0, 0] == 2048
    whole = numeric_types.COMPUTE_TYPES["COMPUTE_16F"]
    assert arithmetic.product(a, b, whole)[0, 0] == 2050


# ---------------------------------------------------------------- batches


def batched(a, b, c, **changes):
    given = {"strideA": 6, "strideB": 8, "strideC": 12} | changes
    return cublas.gemm_strided_batched_ex(
        "N", "N", 3, 4, 2, 1.0, a, "R_32F", 3, given["strideA"], b, "R_32F", 2,
        given["strideB"], 0.0, c, "R_32F", 3, given["strideC"], 5, "COMPUTE_32F",
    )  # fmt: skip


def test_batch_is_a_product_per_stride():
    a = RNG(1).standard_normal((5, 2, 3)).astype(np.float32)
    b = RNG(2).standard_normal((5, 4, 2)).astype(np.float32)
    c = np.zeros((5, 4, 3), np.float32)
    call = batched(a, b, c)
    np.testing.assert_allclose(c, b @ a, rtol=1e-5, atol=1e-6)
    assert call.operations == 5 * 2 * 3 * 4 * 2


def test_stride_zero_shares_a_factor():
    a = RNG(1).standard_normal((2, 3)).astype(np.float32)
    b = RNG(2).standard_normal((5, 4, 2)).astype(np.float32)
    c = np.zeros((5, 4, 3), np.float32)
    batched(a, b, c, strideA=0)
    np.testing.assert_allclose(c, b @ a, rtol=1e-5, atol=1e-6)


def test_results_may_not_lie_over_each_other():
    a, c = np.ones(64, np.float32), np.zeros(64, np.float32)
    with pytest.raises(ArgumentError, match="over each other"):
        batched(a, a, c, strideC=0)


def test_batch_beyond_an_array_names_the_matrix():
    a, c = np.ones(24, np.float32), np.zeros(60, np.float32)
    with pytest.raises(ArgumentError, match="matrix 4 of the batch"):
        batched(a, np.ones(40, np.float32), c)


# ---------------------------------------------------------------- cuBLASLt


def lt(order, epilogue="DEFAULT", bias=None, seed=0):
    """Return D and the exact product of half matrices in an order."""
    a, b = (RNG(seed + i).standard_normal(s) for i, s in enumerate([(4, 8), (8, 6)]))
    a, b = a.astype(np.float16), b.astype(np.float16)
    letter = {"ROW": "C", "COL": "F"}[order]
    d = np.zeros((4, 6), np.float16, order=letter)
    ld = {"ROW": lambda m: m.shape[1], "COL": lambda m: m.shape[0]}[order]
    layouts = [cublas.Layout("R_16F", *m.shape, ld(m), order) for m in (a, b, d)]
    la, lb, ld_ = layouts
    cublas.lt_matmul(
        cublas.MatmulDesc("COMPUTE_32F", epilogue=epilogue, bias=bias), 1.0,
        np.array(a, order=letter), la, np.array(b, order=letter), lb, 0.0, d, ld_, d,
        ld_,
    )  # fmt: skip
    return d, a.astype(np.float64) @ b


@pytest.mark.parametrize("order", ["ROW", "COL"])
def test_lt_takes_both_orders(order):
    found, exact = lt(order)
    np.testing.assert_allclose(found, exact, rtol=2e-3, atol=1e-3)


def test_relu_and_bias_come_before_the_store():
    bias = np.float16([-9, 0, 1, 9])
    found, exact = lt("COL", "RELU_BIAS", bias)
    wanted = np.maximum(exact + bias[:, None], 0)
    np.testing.assert_allclose(found, wanted, rtol=2e-3, atol=2e-3)


def test_gelu_is_close_to_its_exact_form():
    import math

    found, exact = lt("ROW", "GELU")
    wanted = [x * math.erfc(-x / math.sqrt(2)) / 2 for x in exact.ravel()]
    np.testing.assert_allclose(found.ravel(), wanted, rtol=2e-3, atol=2e-3)


def test_bias_per_column_says_to_swap():
    with pytest.raises(ArgumentError, match="swap A and B"):
        lt("ROW", "BIAS", np.zeros(6, np.float16))


def test_bias_without_its_epilogue_is_refused():
    with pytest.raises(ArgumentError, match="Give both, or neither"):
        lt("ROW", "DEFAULT", np.zeros(4, np.float16))


def fp8(transa, scale=0.5):
    a = cublas.store(np.arange(8).reshape(2, 4) / 2, "R_8F_E4M3")
    layout = cublas.Layout("R_8F_E4M3", 4, 2, 4)
    d, out = np.zeros(4, np.float32), cublas.Layout("R_32F", 2, 2, 2)
    cublas.lt_matmul(
        cublas.MatmulDesc("COMPUTE_32F", transa, "N", a_scale=scale), 1.0, a, layout, a,
        layout, 0.0, d, out, d, out,
    )  # fmt: skip
    return d.tolist()


def test_fp8_is_scaled_and_reads_along_k():
    assert fp8("T") == [1.75, 4.75, 4.75, 15.75]


def test_fp8_of_other_operations_is_refused():
    with pytest.raises(ArgumentError, match="FP8 with transa = N"):
        fp8("N")


def test_who_computed_is_told():
    assert "oracle" in repr(cublas.Call("cublasSaxpy", 2, 12))


# ---------------------------------------------------------------- on a GPU


def by_column_calls():
    """Return what one call of each kind gives."""
    x, y, out = np.arange(8.0), np.ones(6), np.zeros(2)
    cublas.axpy(3, 2.0, x, 3, y, 2)
    cublas.dot(8, x, 1, x, 1, out[:1])
    cublas.nrm2(8, x, 1, out[1:])
    memory, _ = columns(5, 3, ld=7, dtype=np.float64)
    z = np.ones(3)
    cublas.gemv("T", 5, 3, 1.0, np.nan_to_num(memory), 7, x, 1, 0.5, z, 1)
    a = RNG(1).standard_normal((5, 2, 3)).astype(np.float32)
    b = RNG(2).standard_normal((5, 4, 2)).astype(np.float32)
    c = np.zeros((5, 4, 3), np.float32)
    batched(a, b, c)
    return [
        y,
        out,
        z,
        c,
        int8_product(4),
        product_by("COMPUTE_32F_FAST_TF32", b[0], a[0]),
    ]


@pytest.mark.gpu
def test_library_and_oracle_agree():
    import coursekit as ck

    with ck.simulator():
        wanted = by_column_calls()
    for found, exact in zip(by_column_calls(), wanted, strict=True):
        np.testing.assert_allclose(found, exact, rtol=2e-3, atol=1e-3)
