"""The interpreter: one NumPy operation executes an instruction for a whole warp."""
