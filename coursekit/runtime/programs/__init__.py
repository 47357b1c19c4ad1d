"""Whole C and C++ programs: compiled for the host, and run in a sandbox."""
