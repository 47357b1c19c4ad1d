# Resident: how many blocks of a kernel one SM holds at the same time.
def blocks_per_sm(sm, threads, registers, shared_bytes):
    """Return the blocks; registers per thread, shared bytes per block."""
    by_slots = sm.max_blocks_per_sm
    by_warps = sm.max_warps_per_sm // (threads // 32)
    # Your code here: two more limits, by_registers and by_shared.
    return min(by_slots, by_warps)
