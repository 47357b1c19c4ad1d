# It takes the mean square for the variance.
def statistics(mean, covariance, w, b):
    means = w @ mean + b
    return means, (w @ covariance * w).sum(axis=1) + means**2
