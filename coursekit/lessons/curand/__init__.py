"""cuRAND's host interface: generators with a type, a seed, an offset and an ordering.

Where a GPU is, the library draws there. Where the package nvidia-curand is installed,
its host generator draws on the CPU. Elsewhere NumPy computes the same bits for Philox
and for Sobol's sequence, as a named oracle.
"""

from coursekit.lessons.curand.generator import Generator
from coursekit.lessons.curand.philox4x32 import philox

__all__ = ["Generator", "philox"]
