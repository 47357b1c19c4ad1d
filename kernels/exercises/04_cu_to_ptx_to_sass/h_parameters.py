# Parameters: what cuLaunchKernel needs for saxpy(x, y, a, n).
import ctypes


def parameters(x, y, a, n):
    """Return values and types; x and y are of type CUdeviceptr."""
    values = int(x), int(y), a, n
    types = (ctypes.c_int,) * 4  # Your code here
    return values, types
