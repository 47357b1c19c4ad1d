# Pick: find the image of a fat binary that the driver takes.
def pick(sm, compute, device):
    """Return ("sm", 80), ("compute", 80) or None; device is 86 for 8.6."""
    fit = [one for one in sm if one // 10 == device // 10 and one <= device]
    if fit:
        return "sm", max(fit)
    older = [one for one in compute if one <= device]
    return ("compute", max(older)) if older else None
