"""Modules, kernels, arguments and launches, on a GPU or on the simulator."""
