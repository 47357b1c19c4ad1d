# Prove: count the FMAs that a factor of unrolling leaves in the PTX.
import coursekit as ck


def multiply_adds(path, factor):
    """Return how many fma.rn.f32 the PTX has, if UNROLL is `factor`."""
    module = ck.compile(path)
    return len(module.ptx)  # Your code here
