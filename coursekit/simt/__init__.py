"""A functional simulator of NVIDIA GPUs for PTX: results, errors and counts."""
