# Sample: some rows and some columns of a matrix, without a copy.
def sample(matrix, down, across):
    """Return the layout of each `down`-th row and `across`-th column."""
    rows, cols = matrix.shape
    # Your code here: compose each mode with a layout of one mode.
    return matrix.composition((rows, cols))
