# Blocks: count the blocks of 256 threads that give each element a thread.
def blocks_for(n):
    """Return the fewest blocks for n elements; n is at least 1."""
    return n // 256  # Your code here
