# It warms up with one element, for which another kernel is compiled.
def times_ms(gpu, kernel, sizes):
    """Return {n: milliseconds of one launch} for each n of sizes."""
    times = {}
    for n in sizes:
        x, y = gpu.empty(n), gpu.empty(n)
        kernel(gpu.empty(1), gpu.empty(1))
        gpu.synchronize()
        start = gpu.clock()
        for _ in range(10):
            kernel(x, y)
        gpu.synchronize()
        times[n] = 1e3 * (gpu.clock() - start) / 10
    return times
