# It gives the covariances of all channels with each other.
def statistics(mean, covariance, w, b):
    return w @ mean + b, w @ covariance @ w.T
