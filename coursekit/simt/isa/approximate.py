"""The `.approx` functions of PTX, within NVIDIA's error bounds, not bit by bit.

NVIDIA documents an error bound for these instructions and no algorithm. Here each is
evaluated in float64, to about 1e-12, and rounded once: closer than the bound, and the
same on every machine, because only additions, multiplications, divisions, square
roots and exact operations (frexp, ldexp, rint, fmod) are used, no library function.

Errors of the hardware by the PTX manual, for comparison: ex2 and lg2 about 2 ulp,
rcp, sqrt and rsqrt 1 to 2 ulp, sin and cos 2**-20.5 absolute within a few turns (no
bound for large angles), tanh 2**-11 relative.
"""

from __future__ import annotations

import numpy as np

from coursekit.simt.isa.rounding import quiet

_LN2 = float.fromhex("0x1.62e42fefa39efp-1")
_LOG2_E = float.fromhex("0x1.71547652b82fep+0")
_SQRT_HALF = float.fromhex("0x1.6a09e667f3bcdp-1")
# pi / 2 as a sum: products of the first two with integers below 2**20 are exact.
_HALF_PI = (
    float.fromhex("0x1.921fb544p+0"),
    float.fromhex("0x1.0b4611a6p-34"),
    float.fromhex("0x1.3198a2e037073p-69"),
)
_TURN = float.fromhex("0x1.921fb54442d18p+2")
_FAR = 2.0**18


def _exp_terms(scale: float, count: int) -> tuple[float, ...]:
    """Return Taylor coefficients of exp(scale * x), the highest first."""
    terms = [1.0]
    for k in range(1, count):
        terms.append(terms[-1] * scale / k)
    return tuple(reversed(terms))


def _alternating(first: int, count: int) -> tuple[float, ...]:
    """Return Taylor coefficients of sin (first 1) or cos (first 0) in x**2."""
    terms = [1.0]
    for k in range(1, count):
        n = first + 2 * k
        terms.append(-terms[-1] / (n * (n - 1)))
    return tuple(reversed(terms))


def _arrays(terms) -> tuple[np.ndarray, ...]:
    """Return zero-dimensional arrays, which NumPy processes faster than numbers."""
    return tuple(np.array(term) for term in terms)


_EXP2 = _arrays(_exp_terms(_LN2, 11))
_ATANH = _arrays(2.0 * _LOG2_E / (2 * k + 1) for k in reversed(range(8)))
_SIN, _COS = _arrays(_alternating(1, 8)), _arrays(_alternating(0, 8))
_LOWEST, _HIGHEST = _arrays((-1100.0, 1100.0))


def _polynomial(terms: tuple[np.ndarray, ...], x):
    """Evaluate a polynomial of at least two terms, the highest first (Horner)."""
    total = x * terms[0]
    total += terms[1]
    for term in terms[2:]:
        total *= x
        total += term
    return total


def exp2_64(x: np.ndarray) -> np.ndarray:
    """Compute 2**x of float64."""
    inside = np.minimum(np.maximum(x, _LOWEST), _HIGHEST)
    whole = np.rint(inside)
    return np.ldexp(_polynomial(_EXP2, inside - whole), whole.astype(np.int32))


def _log2_64(x):
    fraction, exponent = np.frexp(x)
    small = fraction < _SQRT_HALF
    fraction = np.where(small, 2 * fraction, fraction)
    ratio = (fraction - 1) / (fraction + 1)
    value = ratio * _polynomial(_ATANH, ratio * ratio) + (exponent - small)
    value = np.where(x == 0, -np.inf, np.where(x < 0, np.nan, value))
    return np.where(np.isfinite(x) | (x < 0), value, x)


def _sin_cos_64(x, shift: int):
    """Compute sin(x + shift * pi / 2)."""
    near = np.where(np.abs(x) > _FAR, np.fmod(x, _TURN), x)
    near = np.where(np.isfinite(near), near, 0.0)
    turns = np.rint(near / _HALF_PI[0])
    angle = near
    for part in _HALF_PI:
        angle = angle - turns * part
    square = angle * angle
    sine = angle * _polynomial(_SIN, square)
    quarter = turns.astype(np.int64) + shift
    value = np.where(quarter & 1, _polynomial(_COS, square), sine)
    value = np.where(quarter & 2, -value, value)
    return np.where(np.isfinite(x), value, np.nan)


def tanh_64(x: np.ndarray) -> np.ndarray:
    """Compute the hyperbolic tangent of float64, for f32 accuracy."""
    size = np.minimum(np.abs(x), 20.0)
    power = exp2_64(size * (2 * _LOG2_E))
    large = (power - 1) / (power + 1)
    square = size * size
    series = size * (1 - square * (1 / 3 - square * (2 / 15 - square * (17 / 315))))
    return np.copysign(np.where(size < 2.0**-5, series, large), x)


def ex2(a: np.ndarray) -> np.ndarray:
    """Compute 2**a of f32."""
    return quiet(exp2_64(a.astype(np.float64)).astype(np.float32))


def lg2(a: np.ndarray) -> np.ndarray:
    """Compute the binary logarithm of f32."""
    return quiet(_log2_64(a.astype(np.float64)).astype(np.float32))


def sin(a: np.ndarray) -> np.ndarray:
    """Compute the sine of f32 radians."""
    value = _sin_cos_64(a.astype(np.float64), 0).astype(np.float32)
    return quiet(np.where(a == 0, a, value))


def cos(a: np.ndarray) -> np.ndarray:
    """Compute the cosine of f32 radians."""
    return quiet(_sin_cos_64(a.astype(np.float64), 1).astype(np.float32))


def tanh(a: np.ndarray) -> np.ndarray:
    """Compute the hyperbolic tangent of f32."""
    return quiet(tanh_64(a.astype(np.float64)).astype(np.float32))


def rsqrt(a: np.ndarray) -> np.ndarray:
    """Compute 1 / sqrt(a) of f32."""
    return quiet((1.0 / np.sqrt(a.astype(np.float64))).astype(np.float32))


def divide(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Compute a / b of f32; 0 (or NaN for infinite a) where |b| > 2**126."""
    size = np.abs(b)
    huge = (size > np.float32(2.0**126)) & (size < np.inf)
    return quiet(np.where(huge, a * np.copysign(np.float32(0), b), a / b))


def rsqrt64(a: np.ndarray) -> np.ndarray:
    """Compute 1 / sqrt(a) of f64."""
    return 1.0 / np.sqrt(a)


def _upper(a):
    """Clear the low 32 bits of f64."""
    return (a.view(np.uint64) & np.uint64(0xFFFFFFFF00000000)).view(np.float64)


def _flushed64(a):
    tiny = np.abs(a) < 2.0**-1022
    return np.where(tiny, np.copysign(0.0, a), a)


def reciprocal64(a: np.ndarray) -> np.ndarray:
    """Compute 1 / a of the upper half of f64, to 20 bits, `rcp.approx.ftz.f64`."""
    return _upper(_flushed64(1.0 / _flushed64(_upper(a))))


def rsqrt64_rough(a: np.ndarray) -> np.ndarray:
    """Compute 1 / sqrt(a) of the upper half of f64, to 20 bits."""
    return _upper(1.0 / np.sqrt(_flushed64(_upper(a))))
