"""Simulator and GPU give the same bits for the same expression and any input."""

import numpy as np
import pytest

import coursekit as ck

pytestmark = pytest.mark.gpu
N = 4096

INTEGER = [
    "x + y", "x - y", "x * y", "x / (y | 1)", "x % (y | 1)", "x & y", "x | y", "x ^ y",
    "~x", "x << (y & 31)", "x >> (y & 31)", "x < y", "x == y", "min(x, y)", "max(x, y)",
    "abs(x)", "__mulhi(x, y)", "__clz(x)", "__ffs(x)", "__popc(x)", "__brev(x)",
    "__byte_perm(x, y, z)", "__funnelshift_l(x, y, z)",
    "__funnelshift_rc(x, y, z & 63)",
    "__hadd(x, y)", "__rhadd(x, y)", "__sad(x, y, z)", "__mul24(x, y)",
    "__dp4a(x, y, z)", "__vadd2(x, y)", "__vmaxs2(x, y)", "x * y + z", "(short)x",
    "(signed char)y + (unsigned char)x", "(int)((long long)x * y >> 20)",
    "(int)((unsigned)x / ((unsigned)y | 1u))", "__fns(x, 3, 2)",
]  # fmt: skip
FLOAT = [
    "x + y", "x - y", "x * y", "x / y", "x * y + z", "fmaf(x, y, z)", "sqrtf(x)",
    "fabsf(x)", "fminf(x, y)", "fmaxf(x, y)", "floorf(x)", "ceilf(x)", "truncf(x)",
    "rintf(x)", "roundf(x)", "x < y", "x == y", "isnan(x)", "copysignf(x, y)",
    "__fadd_rz(x, y)", "__fmul_ru(x, y)", "__fdiv_rd(x, y)", "__fsqrt_rz(x)",
    "__fmaf_ru(x, y, z)", "__frcp_rn(x)", "__saturatef(x)", "fmodf(x, y)",
    "__uint_as_float(__float2int_rn(x))", "(float)(int)x", "(float)(unsigned)x",
    "(float)(long long)x", "__int2float_rz(__float_as_int(x))", "(float)(double)x",
    "ldexpf(x, 3)", "nextafterf(x, y)", "remainderf(x, y)",
    "__half2float(__float2half_rn(x))", "(float)__float2bfloat16_rn(x)",
    "fdimf(x, y)", "hypotf(x, y)", "-x",
]  # fmt: skip
DOUBLE = [
    "x + y", "x - y", "x * y", "x / y", "x * y + z", "fma(x, y, z)", "sqrt(x)",
    "fabs(x)", "-x", "fmin(x, y)", "fmax(x, y)", "floor(x)", "rint(x)", "trunc(x)",
    "x < y",
    "__dadd_rz(x, y)", "__dmul_ru(x, y)", "__ddiv_rd(x, y)", "__fma_rd(x, y, z)",
    "(double)(float)x", "(double)(long long)x", "(double)(int)x", "fmod(x, y)",
    "exp(x)", "log(x)", "sin(x)", "pow(x, y)", "cbrt(x)", "erf(x)",
]  # fmt: skip
HALF = [
    "x + y", "x - y", "x * y", "x / y", "__hfma(x, y, z)", "__hmin(x, y)",
    "__hmax(x, y)", "__habs(x)", "hfloor(x)", "hrint(x)", "__hadd_sat(x, y)",
    "__hfma_relu(x, y, z)", "(half)(int)x", "(half)(float)x", "hsqrt(x)",
]  # fmt: skip
NEARLY = [
    "expf(x)", "logf(x)", "sinf(x)", "cosf(x)", "tanhf(x)", "powf(fabsf(x), y)",
    "rsqrtf(x)", "erff(x)", "exp2f(x)", "log2f(x)", "__expf(x)", "__sinf(x)",
    "__fdividef(x, y)", "atan2f(x, y)", "asinf(x)", "sinhf(x)", "expm1f(x)", "cbrtf(x)",
]  # fmt: skip
TYPES = {
    "int": (np.int32, ""),
    "float": (np.float32, "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"),
    "double": (np.float64, ""),
    "half": (np.float16, "#include <cuda_fp16.h>\n"),
}


def inputs(dtype, seed):
    """Random bits, and values whose magnitudes are near one, half of each."""
    generator = np.random.default_rng(seed)
    bits = np.frombuffer(generator.bytes(N * np.dtype(dtype).itemsize), dtype).copy()
    near = generator.normal(0, 8, N)
    special = np.array([0, -0.0, 1, -1, 2, 0.5, np.inf, -np.inf, np.nan, 1e-8, 3e4])
    near[: special.size] = special
    with np.errstate(all="ignore"):
        near = near.astype(dtype)
    return np.where(np.arange(N) % 2 == 0, near, bits)


def both(kind, expression, arrays):
    dtype, header = TYPES[kind]
    module = ck.compile(f"""{header}extern "C" __global__
    void k(const {kind}* a, const {kind}* b, const {kind}* c, {kind}* out, int n) {{
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) {{ {kind} x = a[i], y = b[i], z = c[i]; out[i] = {expression}; }}
    }}""")
    results = []
    for simulated in (True, False):
        out = np.zeros(N, dtype)
        if simulated:
            with ck.simulator():
                module.k[N // 256, 256](*arrays, out, N)
        else:
            module.k[N // 256, 256](*arrays, out, N)
        results.append(out)
    return results


EXACT = [
    (kind, expression)
    for kind, table in (
        ("int", INTEGER), ("float", FLOAT), ("double", DOUBLE), ("half", HALF),
    )
    for expression in table
]  # fmt: skip


@pytest.mark.parametrize(("kind", "expression"), EXACT)
def test_exact_operations_agree_bit_for_bit(gpu, kind, expression):
    arrays = [inputs(TYPES[kind][0], seed) for seed in (1, 2, 3)]
    simulated, real = both(kind, expression, arrays)
    width = f"u{simulated.itemsize}"
    ours, theirs = simulated.view(width), real.view(width)
    if kind == "double":  # payloads of NaN are not specified
        both_nan = np.isnan(simulated) & np.isnan(real)
        ours, theirs = np.where(both_nan, 0, ours), np.where(both_nan, 0, theirs)
    differ = np.flatnonzero(ours != theirs)
    shown = [tuple(a[i] for a in arrays) + (simulated[i], real[i]) for i in differ[:3]]
    assert differ.size == 0, (
        f"{differ.size} differ, first (x, y, z, ours, GPU): {shown}"
    )


@pytest.mark.parametrize("expression", NEARLY)
def test_approximate_functions_stay_within_four_ulp_or_a_tiny_error(gpu, expression):
    arrays = [inputs(np.float32, seed) for seed in (1, 2, 3)]
    simulated, real = both("float", expression, arrays)
    finite = np.isfinite(real)
    np.testing.assert_array_equal(np.isfinite(simulated), finite)
    ours, theirs = simulated[finite].astype(float), real[finite].astype(float)
    # The manual bounds __sinf by 2^-21.4 absolute in [-pi, pi], and others in ulp.
    near = np.abs(arrays[0][finite]) <= np.pi if expression == "__sinf(x)" else ...
    allowed = np.maximum(4 * np.spacing(np.abs(real[finite])), 2.0**-21)
    allowed = np.maximum(allowed, 2.0**-20 * np.abs(theirs))
    worst = np.abs(ours - theirs) / allowed
    assert worst[near].max() <= 1
