# Sample: some rows and some columns of a matrix, without a copy.
import coursekit as ck


def sample(matrix, down, across):
    """Return the layout of each `down`-th row and `across`-th column."""
    rows, cols = matrix.shape
    some_rows = ck.layout(rows // down, down)
    some_cols = ck.layout(cols // across, across)
    return matrix.composition((some_rows, some_cols))
