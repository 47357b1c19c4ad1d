"""The libraries that the course's kernels are compared with."""
