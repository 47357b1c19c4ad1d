# Interleaved: `width` neighbours of a row lie together, then the next row.
import coursekit as ck


def interleaved(rows, cols, width):
    """Return the layout of a matrix, cut into groups of `width` columns."""
    groups = cols // width
    return ck.layout((rows, (width, groups)), (width, (1, rows * width)))
