# Mean and variance of the channels of conv1, from those of patches.
def statistics(mean, covariance, w, b):
    """Return (means, variances) of y = w . patch + b, for K channels.

    mean: (9,), covariance: (9, 9), of the pixels of a patch.
    w: (K, 9), b: (K,).
    """
    # Your code here: this takes the nine pixels for independent.
    return w @ mean + b, w**2 @ covariance.diagonal()
