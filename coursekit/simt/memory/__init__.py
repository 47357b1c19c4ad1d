"""Simulated memory, the faults of accesses to it, and the counters."""
