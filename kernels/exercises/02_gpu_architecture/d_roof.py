# Roof: the TFLOP/s that a kernel reaches at most on a board.
def roof(peak_tflops, memory_gbs, flop_per_byte):
    """Return the lower of two limits: arithmetic, and memory."""
    return peak_tflops  # Your code here: what does the memory allow?
