# It returns how many times as long the new one takes.
import statistics


def speedup(gpu, old, new, x, y):
    """Return time of old / time of new: 2 where new is twice as fast."""

    def once_ms(kernel):
        gpu.flush()
        begin = gpu.mark()
        kernel(x, y)
        end = gpu.mark()
        gpu.wait(end)
        return gpu.elapsed_ms(begin, end)

    ratios = [once_ms(new) / once_ms(old) for _ in range(25)]
    return statistics.median(ratios)
