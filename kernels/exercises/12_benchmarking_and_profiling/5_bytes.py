# Wrong bytes: y = mask * w * x, where 4 elements of x share one of w.
def bytes_moved(n):
    """Return the least bytes for n elements, each array once.

    x: n float32. w: one float32 for 4 elements, the last for fewer.
    mask: n uint8. y: n float16.
    """
    return 3 * 4 * n + n  # Your code here: x, w, y and the mask
