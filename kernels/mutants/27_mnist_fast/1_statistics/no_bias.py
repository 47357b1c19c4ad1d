# The bias moves every value, and so the mean.
def statistics(mean, covariance, w, b):
    return w @ mean, (w @ covariance * w).sum(axis=1)
