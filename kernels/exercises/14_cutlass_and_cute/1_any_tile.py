# Any tile: the swizzle that frees it of bank conflicts.
import math


def swizzle_for(columns, width):
    """Return bits, base and shift for rows of `columns` words.

    Both numbers are powers of two. Each lane accesses `width` neighbouring
    words at a time, along rows or below other lanes.
    """
    c, base = int(math.log2(columns)), int(math.log2(width))
    # Your code here: these are right for c = 5 and base = 0.
    return 5, 0 * base, c
