# Bounds: least times of a training step on an H200, in microseconds.
def bounds_us(kernels, bytes_moved, flops):
    """Return the least times of launches, memory and lanes, in this order.

    A launch takes 3 us, memory moves 4,800 GB per second, the lanes do
    66.9 TFLOP per second.
    """
    return 0, 0, 0  # Your code here
