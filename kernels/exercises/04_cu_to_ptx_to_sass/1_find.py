# Find: count two kinds of instructions in a kernel's PTX.
def find(ptx):
    """Return the number of FMAs, and of instructions with a predicate."""
    lines = [line.strip() for line in ptx.splitlines()]
    fmas = [line for line in lines if line == "fma"]  # Your code here
    guarded = [line for line in lines if line == "p"]  # Your code here
    return len(fmas), len(guarded)
