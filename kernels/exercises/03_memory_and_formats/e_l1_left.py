# L1 left: KiB of cache on an SM of an H100 or H200.
CARVE_OUTS = (0, 8, 16, 32, 64, 100, 132, 164, 196, 228)  # KiB


def l1_left(blocks, kib):
    """Return the KiB of L1 beside `blocks` blocks of `kib` KiB."""
    # Your code here: 256 KiB can only be split at CARVE_OUTS.
    return 256 - blocks * kib
