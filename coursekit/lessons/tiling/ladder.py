"""The steps of kernels/matmul, described as tilings."""

from __future__ import annotations

from coursekit.lessons.tiling.shape import BUFFERS, LAYOUTS, ORDERS, PIECES

_WIDE = {"rows": 128, "cols": 128, "depth": 8, "patch_rows": 8, "patch_cols": 8}
_FOURS = {**_WIDE, "copied": 4}
LADDER: dict[str, dict] = {
    "step 3: shared tiles": {
        "rows": 32, "cols": 32, "depth": 32, "down": 1, "patch_rows": 1,
        "patch_cols": 1,
    },
    "step 4: columns of eight": {
        "rows": 64, "cols": 64, "depth": 8, "down": 1, "patch_rows": 8, "patch_cols": 1,
    },
    "step 5: patches": {**_WIDE, "down": 2},
    "step 6: four at a time": {**_FOURS, "down": 2, "a_tile": LAYOUTS[2]},
    "step 7: no conflicts": {
        **_FOURS, "down": 2, "a_tile": LAYOUTS[3], "pieces": PIECES[1],
    },
    "step 8: warp tiles": {
        **_FOURS, "down": 8, "a_tile": LAYOUTS[3], "pieces": PIECES[2],
        "order": ORDERS[1],
    },
    "step 9: two buffers": {
        **_FOURS, "depth": 16, "down": 8, "a_tile": LAYOUTS[1], "pieces": PIECES[2],
        "order": ORDERS[1], "buffers": BUFFERS[1],
    },
}  # fmt: skip
