"""From CUDA C++ to PTX and machine code: NVRTC, its cache, and what it says."""
