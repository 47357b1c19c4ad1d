# Blocks: the division is rounded up, so that the last block may be part empty.
def blocks_for(n):
    """Return the fewest blocks for n elements; n is at least 1."""
    return (n + 255) // 256
