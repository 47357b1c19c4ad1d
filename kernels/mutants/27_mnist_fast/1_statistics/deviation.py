# It gives the standard deviation.
def statistics(mean, covariance, w, b):
    return w @ mean + b, (w @ covariance * w).sum(axis=1) ** 0.5
