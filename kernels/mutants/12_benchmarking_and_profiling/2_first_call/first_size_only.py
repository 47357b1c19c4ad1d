# It warms up for the first size, and each size is compiled.
def times_ms(gpu, kernel, sizes):
    """Return {n: milliseconds of one launch} for each n of sizes."""
    times = {}
    kernel(gpu.empty(sizes[0]), gpu.empty(sizes[0]))
    for n in sizes:
        x, y = gpu.empty(n), gpu.empty(n)
        gpu.synchronize()
        start = gpu.clock()
        for _ in range(10):
            kernel(x, y)
        gpu.synchronize()
        times[n] = 1e3 * (gpu.clock() - start) / 10
    return times
