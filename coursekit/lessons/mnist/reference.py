"""Each layer of the network in NumPy, forward and backward: the kernels' reference.

Everything is computed in the dtype of the inputs; float64 gives a reference. `dy` is
the gradient of the loss by y, and `dx`, `dw`, `db` are those by x, w and b.
"""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view


def normalise(pixels, mean: float, deviation: float):
    """Turn bytes into floats of mean 0 and deviation 1."""
    return (pixels.astype(np.float64) / 255 - mean) / deviation


def _windows(x):
    """Return the 3 x 3 neighbourhood of each pixel: axes n, c, i, j, r, s."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    return sliding_window_view(padded, (3, 3), axis=(2, 3))


def conv(x, w, b):
    """Correlate (N, C, H, W) with 3 x 3 filters (K, C, 3, 3)."""
    y = np.einsum("ncijrs,kcrs->nkij", _windows(x), w, optimize=True)
    return y + b[:, None, None]


def conv_backward(dy, x, w):
    """Return dx, dw and db.

    y[i] has w[r] * x[i + r - 1], so x[i] is in y[i - r + 1] with w[r]: the filter
    looks the other way, and sums over k in place of c.
    """
    turned = w[:, :, ::-1, ::-1]
    dx = np.einsum("nkijrs,kcrs->ncij", _windows(dy), turned, optimize=True)
    dw = np.einsum("nkij,ncijrs->kcrs", dy, _windows(x), optimize=True)
    return dx, dw, dy.sum(axis=(0, 2, 3))


def statistics(x):
    """Return mean and variance of each channel of (N, C, H, W), divided by N H W."""
    return x.mean(axis=(0, 2, 3)), x.var(axis=(0, 2, 3))


def running(old, new, momentum: float):
    """Move a running average towards a new value."""
    return (1 - momentum) * old + momentum * new


def unbiased(variance, m: int):
    """Return the variance divided by m - 1 in place of m, as PyTorch remembers it."""
    return variance * m / (m - 1)


def batchnorm(x, mean, variance, gamma, beta, epsilon: float):
    """Give each channel of (N, C, H, W) mean beta and deviation gamma."""
    return _unit(x, mean, variance, epsilon) * _by_channel(gamma) + _by_channel(beta)


def batchnorm_backward(dy, x, gamma, epsilon: float):
    """Return dx, dgamma and dbeta of normalising by the batch's own statistics.

    Of one channel with m values, u = (x - mean) * s, s = 1 / sqrt(variance + epsilon)
    and y = gamma * u + beta. What beta and gamma do to the loss is

        dbeta = sum of dy,    dgamma = sum of dy * u.

    x[j] moves y[i] in three ways: directly, through the mean, and through s.

        d mean / d x[j]     = 1 / m
        d variance / d x[j] = 2 (x[j] - mean) / m     (the mean's own part sums to 0)
        d s / d x[j]        = -s^3 / 2 * that = -s^2 u[j] / m

        d u[i] / d x[j] = s * ([i == j] - 1 / m) + (x[i] - mean) * (-s^2 u[j] / m)
                        = s * ([i == j] - 1 / m - u[i] u[j] / m)

    Sum gamma * dy[i] times this over i; the sums that appear are those above:

        dx[j] = gamma * s * (dy[j] - dbeta / m - u[j] * dgamma / m)

    So dx sums to 0, and so does dx * u but for epsilon: shifting or stretching a
    channel changes nothing, and no gradient asks for it.
    """
    mean, variance = statistics(x)
    m = x.size // x.shape[1]
    u = _unit(x, mean, variance, epsilon)
    dbeta, dgamma = dy.sum(axis=(0, 2, 3)), (dy * u).sum(axis=(0, 2, 3))
    scale = _by_channel(gamma / np.sqrt(variance + epsilon))
    dx = scale * (dy - _by_channel(dbeta) / m - u * _by_channel(dgamma) / m)
    return dx, dgamma, dbeta


def _unit(x, mean, variance, epsilon: float):
    return (x - _by_channel(mean)) / np.sqrt(_by_channel(variance) + epsilon)


def _by_channel(values):
    """Shape one value per channel so that it broadcasts over (N, C, H, W)."""
    return values[:, None, None]


def relu(x):
    """Replace what is negative by 0."""
    return np.maximum(x, 0)


def relu_backward(dy, y):
    """Let the gradient pass where y is positive."""
    return np.where(y > 0, dy, 0)


def _fours(x):
    """Return the 2 x 2 values of each result as a last axis; odd ends are left out."""
    *front, rows, cols = x.shape
    even = x[..., : rows // 2 * 2, : cols // 2 * 2]
    pairs = even.reshape(*front, rows // 2, 2, cols // 2, 2)
    return np.moveaxis(pairs, -3, -2).reshape(*front, rows // 2, cols // 2, 4)


def _spread(fours, shape):
    """Invert `_fours`; a row or column that it left out becomes 0."""
    *front, rows, cols, _ = fours.shape
    pairs = np.moveaxis(fours.reshape(*front, rows, cols, 2, 2), -2, -3)
    x = np.zeros(shape, fours.dtype)
    x[..., : 2 * rows, : 2 * cols] = pairs.reshape(*front, 2 * rows, 2 * cols)
    return x


def max_pool(x):
    """Return the largest of each 2 x 2 values, and its index: the first of equals."""
    fours = _fours(x)
    return fours.max(axis=-1), fours.argmax(axis=-1)


def max_pool_backward(dy, where, shape):
    """Pass each gradient to the value that was the largest."""
    return _spread(np.where(where[..., None] == np.arange(4), dy[..., None], 0), shape)


def average_pool(x):
    """Return the mean of each 2 x 2 values."""
    return _fours(x).mean(axis=-1)


def average_pool_backward(dy, shape):
    """Pass a quarter of each gradient to each of the four values."""
    return _spread(np.repeat(dy[..., None] / 4, 4, axis=-1), shape)


def linear(x, w, b):
    """Return x w' + b, for (N, I) and (O, I)."""
    return x @ w.T + b


def linear_backward(dy, x, w):
    """Return dx, dw and db."""
    return dy @ w, dy.T @ x, dy.sum(axis=0)


def _log_softmax(logits):
    apart = logits - logits.max(axis=1, keepdims=True)
    return apart - np.log(np.exp(apart).sum(axis=1, keepdims=True))


def cross_entropy(logits, labels):
    """Return -log of the probability of each row's label."""
    return -_log_softmax(logits)[np.arange(len(labels)), labels]


def cross_entropy_backward(logits, labels):
    """Return the gradient of the mean loss by the logits.

    The loss of a row is log(sum of exp(logits)) - logits[label]. The derivative of
    the first is the softmax, of the second 1 at the label.
    """
    hot = np.arange(logits.shape[1]) == labels[:, None]
    return (np.exp(_log_softmax(logits)) - hot) / len(labels)
