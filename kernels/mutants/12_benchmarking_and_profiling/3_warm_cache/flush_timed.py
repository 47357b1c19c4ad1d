# The flush lies between the events, so that it is timed.
def cold_ms(gpu, kernel, x, y):
    """Return the median of 20 launches, each with a cold cache, in ms."""
    times = []
    for _ in range(20):
        begin = gpu.mark()
        gpu.flush()
        kernel(x, y)
        end = gpu.mark()
        gpu.wait(end)
        times.append(gpu.elapsed_ms(begin, end))
    return sorted(times)[len(times) // 2]
