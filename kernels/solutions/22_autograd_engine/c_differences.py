# Differences: the gradient of f at x, without any calculus.
def numeric_gradient(f, x, h):
    gradient = [0.0] * len(x)
    for i in range(len(x)):
        up = x.copy()
        up[i] += h
        down = x.copy()
        down[i] -= h
        gradient[i] = (f(up) - f(down)) / (2 * h)
    return gradient
