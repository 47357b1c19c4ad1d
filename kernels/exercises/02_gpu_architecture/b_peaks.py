# Peaks: what a board does at most, from five numbers of its data sheet.
def peaks(sms, lanes_per_sm, clock_mhz, bus_bits, memory_mhz):
    """Return the TFLOP/s of the FP32 lanes, and the GB/s of the memory."""
    tflops = sms * clock_mhz / 1e6  # Your code here: what is missing?
    gbs = bus_bits * memory_mhz / 1e3  # Your code here: what is missing?
    return tflops, gbs
