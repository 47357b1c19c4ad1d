"""Made-up submissions: right, wrong, hanging, crashing, cheating, unreadable.

They answer the tiny exercises 42.1 (a kernel), 42.2 (a kernel) and 42.3 (Python).
`python tests/support/made_up_class.py FOLDER` writes them into a folder, to look at.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import tiny_host_exercise
from tiny_exercises import TURN, add_ten

RIGHT = add_ten("if (i < n) out[i] = a[i] + 10;")
DOUBLE = tiny_host_exercise.SOLUTION
PRINTED = "print('PASSED')\nprint('Exercise 42.3, Double: solved')\n"
REPLACED = """import sys, types
sys.modules["coursekit"] = types.ModuleType("coursekit")
"""
PROGRESS = """import os, pathlib
state = pathlib.Path(os.environ["COURSEKIT_STATE"])
state.mkdir(parents=True, exist_ok=True)
(state / "progress.json").write_text('{"42.3": "solved"}')
os._exit(0)
"""
EQUAL = """class Yes(int):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __add__(self, other): return self
    __radd__ = __add__
def double(x): return Yes()
"""
PATCHED = """import coursekit as ck
Verdict = type(ck.check("42.3"))
Verdict.passed = property(lambda self: True)
def double(x): return 0
"""
# The same, past what is looked for in the text.
QUIETLY = """class Any:
    def change(self): self.passed = property(lambda verdict: True)
Any.change(type(ck.check("42.3")))
def double(x): return 0
"""
# Kernels that know the sizes and values of the check, and nothing else.
KNOWN_SIZES = add_ten(
    "bool known = n == 0 || n == 1 || n == 8 || n == 31 || n == 32 || n == 33\n"
    "        || n == 255 || n == 1023 || n == 1025;\n"
    "    if (i < n) out[i] = known ? a[i] + 10 : 0;"
)
BOMB = "x = [0]\nwhile True: x = x + x\n"


def notebook(*sources: str) -> bytes:
    """Return a notebook of these code cells, without anything that may be left out."""
    cells = [{"cell_type": "code", "metadata": {}, "source": s, "outputs": []}
             for s in sources]  # fmt: skip
    content = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    return json.dumps(content).encode()


def map_cell(text: str) -> str:
    """Return the cell of exercise 42.1."""
    return f"%%cuda --exercise 42.1\n{text}"


def double_cell(text: str) -> str:
    """Return the cell of exercise 42.3."""
    return f"%%host --exercise 42.3\n{text}"


def python(text: str) -> bytes:
    """Return a notebook that answers exercise 42.3."""
    return notebook(double_cell(text))


# Path in the folder: what is in the file.
FILES: dict[str, bytes] = {
    # right
    "ada.ipynb": notebook("x = 1", map_cell(RIGHT), double_cell(DOUBLE)),
    "ben/42_tests/1_map.cu": RIGHT.encode(),
    "ben/42_tests/3_double.py": DOUBLE.encode(),
    "cleo/deep/exercises/42_tests/1_map.cu": RIGHT.encode(),
    "dan/42.1.cu": RIGHT.encode(),
    "eva/42_tests/1_map.cu": b"\xef\xbb\xbf" + RIGHT.replace("\n", "\r\n").encode(),
    "fred/42_tests/1_map.cu": RIGHT.encode("utf-16"),
    "gil/42_tests/1_map.cu": b"// caf\xe9\n" + RIGHT.encode(),
    "hana/a.ipynb": notebook(map_cell(RIGHT)),
    "hana/b.ipynb": notebook(map_cell(add_ten("// Your code here."))),
    # wrong
    "ian.ipynb": notebook(map_cell(add_ten("// Your code here.")), double_cell("")),
    "jo.ipynb": notebook(map_cell(add_ten("out[i] = a[i] + 10;"))),
    "kim.ipynb": notebook(map_cell(add_ten("if (i < n - 1) out[i] = a[i] + 10;"))),
    "lea.ipynb": notebook(map_cell("__global__ void add_ten(float *out {")),
    "max/42_tests/2_turn.cu": TURN.replace("row * cols + col", "row + col").encode(),
    "nina.ipynb": python("def double(x): return x + 3"),
    # hanging
    "ole.ipynb": notebook(map_cell(add_ten("while (true) __nanosleep(1);"))),
    "pia.ipynb": python("while True: pass"),
    "quin.ipynb": python("import time\ntime.sleep(1e6)"),
    # crashing
    "ron.ipynb": python("import os\nos.kill(os.getpid(), 11)"),
    "sue.ipynb": python(BOMB),
    "tom.ipynb": python("raise SystemExit(0)"),
    # cheating
    "uma.ipynb": python(PRINTED + "def double(x): return 0"),
    "vic.ipynb": python(REPLACED + DOUBLE),
    "wim.ipynb": python(PROGRESS),
    "xena.ipynb": python(EQUAL),
    "yan.ipynb": python(PATCHED),
    "yves.ipynb": python(QUIETLY),
    "zoe.ipynb": notebook(map_cell(KNOWN_SIZES)),
    "zack/42_tests/1_map.cu": b'#include "/etc/passwd"\n' + RIGHT.encode(),
    # unreadable
    "=1+2.ipynb": b"{",
    "aaron.zip": b"PK\x03\x04",
}
EMPTY = ("bea",)
STRANGE = b"caf\xe9.ipynb"  # a name that is not UTF-8


def write(folder: Path) -> Path:
    """Write the submissions into a folder, and return it."""
    for name, content in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    for name in EMPTY:
        (folder / name).mkdir()
    with open(os.path.join(os.fsencode(folder), STRANGE), "wb") as stream:
        stream.write(python(DOUBLE))
    return folder


if __name__ == "__main__":
    write(Path(sys.argv[1]))
