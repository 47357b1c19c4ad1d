# Wrong bytes, repaired: elements of each array, times the bytes of one.
def bytes_moved(n):
    """Return the least bytes for n elements, each array once."""
    groups = -(-n // 4)
    return 4 * n + 4 * groups + 1 * n + 2 * n
