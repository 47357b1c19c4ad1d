"""CuTe's layout algebra in Python: `layout` makes one, its methods compute with it."""

from coursekit.lessons.layouts.layout import Layout, layout
from coursekit.lessons.layouts.swizzle import SwizzledLayout

__all__ = ["Layout", "SwizzledLayout", "layout"]
