# Arguments: out[:, :n] = x times w, in an array `out` of 2 * n columns.
def arguments(x, w, out):
    """Return the groups of Gemm::Arguments; all arrays are row-major."""
    m, k = x.shape
    n = w.shape[1]
    target = (out, 2 * n)
    return (m, n, k), (x, k), (w, n), target, target, (1.0, 0.0)
