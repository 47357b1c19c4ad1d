# Replay, repaired: the room is kept, and every call computes the sum.
def make_case(gpu, total, divide):
    """Return a function case(x, y), which a benchmark calls many times."""
    s = gpu.empty(1)

    def case(x, y):
        total(x, s)
        divide(x, s, y)

    return case
