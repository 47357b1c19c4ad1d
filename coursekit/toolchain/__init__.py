"""Compile CUDA C++ to PTX and machine code: NVRTC, its cache and its messages."""
