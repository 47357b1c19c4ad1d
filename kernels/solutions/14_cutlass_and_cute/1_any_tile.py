# Any tile: the swizzle that frees it of bank conflicts.
import math


def swizzle_for(columns, width):
    """Return bits, base and shift for rows of `columns` words.

    Both numbers are powers of two. Each lane accesses `width` neighbouring
    words at a time, along rows or below other lanes.
    """
    c, base = int(math.log2(columns)), int(math.log2(width))
    bits = min(c, 5) - base
    shift = max(c, 5) - base
    return bits, base, shift
