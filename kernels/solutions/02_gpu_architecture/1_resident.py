# Resident: four limits, and the smallest counts.
def blocks_per_sm(sm, threads, registers, shared_bytes):
    """Return the blocks; registers per thread, shared bytes per block."""
    by_slots = sm.max_blocks_per_sm
    by_warps = sm.max_warps_per_sm // (threads // 32)
    by_registers = sm.registers_per_sm // (threads * registers)
    taken = shared_bytes + sm.shared_reserved_bytes_per_block
    by_shared = sm.shared_bytes_per_sm // taken
    return min(by_slots, by_warps, by_registers, by_shared)
