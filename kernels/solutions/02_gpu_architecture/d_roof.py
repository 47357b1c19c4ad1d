# Roof: GB/s times FLOP per byte are GFLOP/s, a thousandth of TFLOP/s.
def roof(peak_tflops, memory_gbs, flop_per_byte):
    """Return the lower of two limits: arithmetic, and memory."""
    return min(peak_tflops, memory_gbs * flop_per_byte / 1000)
