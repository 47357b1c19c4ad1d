# Pairs of different pixels are counted once, and there are two of each.
def statistics(mean, covariance, w, b):
    upper = covariance.copy()
    for a in range(9):
        upper[a, :a] = 0
    return w @ mean + b, (w @ upper * w).sum(axis=1)
