# Starts: from COO, whose entries are sorted by rows, to CSR.
import numpy as np


def starts(row_of_entry, rows):
    # Your code here: where each row begins, and the last ends.
    return np.zeros(rows + 1, np.int32)
