# Starts: from COO, whose entries are sorted by rows, to CSR.
import numpy as np


def starts(row_of_entry, rows):
    lengths = np.bincount(row_of_entry, minlength=rows)
    return np.append(0, np.cumsum(lengths)).astype(np.int32)
