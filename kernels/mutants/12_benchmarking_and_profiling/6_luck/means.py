# It takes means in turn, and each interruption counts in full.
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

    olds, news = [], []
    for _ in range(25):
        olds.append(once_ms(old))
        news.append(once_ms(new))
    return statistics.mean(olds) / statistics.mean(news)
