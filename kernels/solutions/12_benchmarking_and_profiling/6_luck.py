# Luck, repaired: the median over pairs that are measured in turn.
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

    ratios = []
    for turn in range(25):
        first, second = (old, new) if turn % 2 == 0 else (new, old)
        times = {kernel: once_ms(kernel) for kernel in (first, second)}
        ratios.append(times[old] / times[new])
    return statistics.median(ratios)
