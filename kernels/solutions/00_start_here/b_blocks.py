# Blocks: the division is rounded up, so the last block may have room.
def blocks_for(n):
    """Return the fewest blocks for n elements; n is at least 1."""
    return (n + 255) // 256
