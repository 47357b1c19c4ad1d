# It counts bits.
def bytes_moved(n):
    return 8 * (4 * n + 4 * -(-n // 4) + n + 2 * n)
