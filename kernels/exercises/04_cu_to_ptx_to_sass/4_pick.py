# Pick: find the image of a fat binary that the driver takes.
def pick(sm, compute, device):
    """Return ("sm", 80), ("compute", 80) or None; device is 86 for 8.6."""
    if device in sm:
        return "sm", device
    # Your code here: which of the others would run?
    return None
