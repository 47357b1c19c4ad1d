# Context: start the driver, and make a context on device 0.
def checked(answer):
    """Return the value of a call, if it has one."""
    result, *values = answer
    if result != 0:
        raise RuntimeError(result.name)
    return values[0] if values else None


def open_context(cu):
    """Return a new context; `cu` is the driver API."""
    checked(cu.cuInit(0))
    device = checked(cu.cuDeviceGet(0))
    return checked(cu.cuCtxCreate(None, 0, device))
