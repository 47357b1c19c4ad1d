# Parameters: what cuLaunchKernel needs for saxpy(x, y, a, n).
import ctypes


def parameters(x, y, a, n):
    """Return values and types; x and y are of type CUdeviceptr."""
    values = int(x), int(y), a, n
    types = ctypes.c_void_p, ctypes.c_void_p, ctypes.c_float, ctypes.c_int
    return values, types
