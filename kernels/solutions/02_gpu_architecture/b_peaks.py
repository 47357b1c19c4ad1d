# Peaks: two operations per lane and clock, two bits per line and clock.
def peaks(sms, lanes_per_sm, clock_mhz, bus_bits, memory_mhz):
    """Return the TFLOP/s of the FP32 lanes, and the GB/s of the memory."""
    tflops = sms * lanes_per_sm * 2 * clock_mhz / 1e6
    gbs = bus_bits * 2 * memory_mhz / 8 / 1e3
    return tflops, gbs
