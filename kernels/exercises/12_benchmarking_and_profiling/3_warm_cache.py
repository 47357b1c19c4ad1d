# Warm cache: the time of a kernel that finds nothing in the L2 cache.
def cold_ms(gpu, kernel, x, y):
    """Return the median of 20 launches, each with a cold cache, in ms."""
    times = []
    for _ in range(20):
        # Your code here: where was x a moment ago?
        begin = gpu.mark()
        kernel(x, y)
        end = gpu.mark()
        gpu.wait(end)
        times.append(gpu.elapsed_ms(begin, end))
    return sorted(times)[len(times) // 2]
