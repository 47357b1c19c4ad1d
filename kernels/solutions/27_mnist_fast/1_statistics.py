# The variance is w' Cov w: every pair of pixels counts.
def statistics(mean, covariance, w, b):
    """Return (means, variances) of y = w . patch + b, for K channels.

    mean: (9,), covariance: (9, 9), of the pixels of a patch.
    w: (K, 9), b: (K,).
    """
    return w @ mean + b, (w @ covariance * w).sum(axis=1)
