# Arguments: out[:, :n] = x times w, in an array `out` of 2 * n columns.
def arguments(x, w, out):
    """Return the groups of Gemm::Arguments; all arrays are row-major."""
    m, k = x.shape
    n = w.shape[1]
    # Your code here: this is the order of an old tutorial.
    return (m, n, k), 1.0, (x, k), (w, n), 0.0, (out, n)
