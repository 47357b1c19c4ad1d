# Bounds: each is what there is to do, divided by what a microsecond does.
def bounds_us(kernels, bytes_moved, flops):
    """Return the least times of launches, memory and lanes, in this order.

    A launch takes 3 us, memory moves 4,800 GB per second, the lanes do
    66.9 TFLOP per second.
    """
    return 3 * kernels, bytes_moved / 4800e3, flops / 66.9e6
