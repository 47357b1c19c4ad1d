# Luck: how many times as fast as `old` is `new`? The clock is not steady.
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

    # Your code here: three of the old one first, then three of the new one.
    of_old = statistics.median(once_ms(old) for _ in range(3))
    of_new = statistics.median(once_ms(new) for _ in range(3))
    return of_old / of_new
