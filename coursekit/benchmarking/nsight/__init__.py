"""NVIDIA Nsight Compute: its counters, its reports, and ``ck.profile``."""
