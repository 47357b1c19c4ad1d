"""Recorded times: their definitions, their files, and hashes of their kernels."""
