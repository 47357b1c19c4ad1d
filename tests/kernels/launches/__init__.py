"""How the tests launch the files of kernels/: one module a folder, of its name.

A module has one function a file, which takes sizes and returns a `Launch`: what goes
in, and what must come out. `kernel_launches.plans` finds the modules by their names.
"""
