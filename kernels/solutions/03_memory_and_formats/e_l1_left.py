# L1 left: KiB of cache on an SM of an H100 or H200.
CARVE_OUTS = (0, 8, 16, 32, 64, 100, 132, 164, 196, 228)  # KiB


def l1_left(blocks, kib):
    """Return the KiB of L1 beside `blocks` blocks of `kib` KiB."""
    needed = blocks * (kib + 1)  # CUDA reserves 1 KiB per block
    carve_out = min(size for size in CARVE_OUTS if size >= needed)
    return 256 - carve_out
