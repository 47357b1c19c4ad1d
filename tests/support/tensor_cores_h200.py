"""Compare what tensor cores give with the simulator, bit by bit; on an H200.

`python tests/support/tensor_cores_h200.py FILE` runs each case of the tests of matrix
loads and products on the GPU and on the simulator, writes how many results differ and
by how many units in the last place, and prints the cases that differ.
"""

from __future__ import annotations

import datetime
import itertools
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import coursekit as ck

sys.path.insert(0, str(Path(__file__).parents[1] / "simt"))

import test_integer_products as integers
import test_matrix_loads as loads
import test_warpgroup_short_products as short

KINDS = (
    *itertools.product(("f16",), ("f16",)),
    *itertools.product(("bf16",), ("bf16",)),
    *itertools.product(("e4m3", "e5m2"), repeat=2),
    *itertools.product(short.INTEGERS, repeat=2),
)


def cases() -> Iterator[tuple[str, Callable[[], np.ndarray]]]:
    """Yield names, and functions that run a case on the current backend."""
    for count, trans in loads.FORMS:
        yield (
            f"ldmatrix x{count} {trans=}",
            lambda c=count, t=trans: loads.run(loads.kernel(c, t), loads.given(), c),
        )
    for form in integers.FORMS:
        yield f"mma {form}", lambda form=form: _integers(*form)
    for kinds, held in itertools.product(KINDS, (False, True)):
        yield (
            f"wgmma {kinds} {held=}",
            lambda k=kinds, h=held: short.multiplied(k, held=h)[0],
        )
    for swizzle, across in itertools.product(short.SWIZZLES, (False, True)):
        layout = short.Layout(swizzle, across)
        yield (
            f"wgmma f16 {swizzle=} transposed={across}",
            lambda at=layout: short.multiplied(("f16", "f16"), left=at, right=at)[0],
        )


def _integers(depth: int, left: str, right: str) -> np.ndarray:
    words = integers.fragments(*integers.drawn(depth, left, right))
    integers.kernel(depth, left, right)[1, 32](*words)
    return words[2]


def difference(there: np.ndarray, here: np.ndarray) -> dict[str, int]:
    """Return how many results differ, and the most units in the last place."""
    apart = np.abs(there.view(np.int32).astype(np.int64) - here.view(np.int32))
    return {"differ": int(np.count_nonzero(apart)), "most_ulps": int(apart.max())}


def main(path: Path) -> None:
    """Run all cases and write the file."""
    found = {}
    for name, run in cases():
        there = run()
        with ck.simulator():
            here = run()
        found[name] = difference(there, here)
        if found[name]["differ"]:
            print(name, found[name])
    content = {
        "device": ck.device().name,
        "date": datetime.date.today().isoformat(),
        "cases": found,
    }
    path.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
