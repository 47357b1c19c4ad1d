# Room for the larger of each two neighbours; an odd last one is alone.
def outputs(x):
    """Return an empty result for x of rows x cols."""
    return x.new_empty(x.shape[0], (x.shape[1] + 1) // 2)
