# It takes one pair, as it comes.
def speedup(gpu, old, new, x, y):
    """Return time of old / time of new: 2 where new is twice as fast."""

    def once_ms(kernel):
        gpu.flush()
        begin = gpu.mark()
        kernel(x, y)
        end = gpu.mark()
        gpu.wait(end)
        return gpu.elapsed_ms(begin, end)

    return once_ms(old) / once_ms(new)
