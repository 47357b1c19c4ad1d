# Differences: the gradient of f at x, without any calculus.
def numeric_gradient(f, x, h):
    gradient = [0.0] * len(x)
    for i in range(len(x)):
        up = x.copy()
        up[i] += h
        # Your code here: use a point on the other side of x, too.
        gradient[i] = (f(up) - f(x)) / h
    return gradient
