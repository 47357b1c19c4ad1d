"""Count Golf: right kernels with the fewest counts, re-simulated by anybody."""
