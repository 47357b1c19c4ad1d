"""What a launch did: counts, checks, traces, occupancy, machine code."""
