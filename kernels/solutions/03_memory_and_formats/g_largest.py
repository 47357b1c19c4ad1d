# Largest: the largest finite number of a format that has Inf and NaN.
def largest(exponent_bits, mantissa_bits):
    """Return it as a float; the pattern 0 11...10 11...1 is the largest."""
    bias = 2 ** (exponent_bits - 1) - 1
    return (2 - 2.0**-mantissa_bits) * 2.0**bias
