# It counts w once for each element that uses it.
def bytes_moved(n):
    return 4 * n + 4 * n + n + 2 * n
