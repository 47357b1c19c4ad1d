# Interleaved: `width` neighbours of a row lie together, then the next row.
import coursekit as ck


def interleaved(rows, cols, width):
    """Return the layout of a matrix, cut into groups of `width` columns."""
    # Your code here: cut the columns; this is plain column-major.
    return ck.layout((rows, cols), (1, rows))
