"""The C++ twin of the polynomial: it compiles on the stable ABI, and agrees."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from coursekit import paths

torch = pytest.importorskip("torch")
COMPILER = shutil.which("g++")


@pytest.mark.skipif(COMPILER is None, reason="This machine has no g++.")
def test_the_cpp_twin_computes_the_polynomial(tmp_path):
    home, library = Path(torch.__file__).parent, tmp_path / "polynomial.so"
    options = ["-O2", "-std=c++20", "-shared", "-fPIC", f"-I{home / 'include'}"]
    source = paths.kernels() / "extensions" / "polynomial.cpp"
    links = [f"-L{home / 'lib'}", "-ltorch_cpu", "-ltorch"]
    subprocess.run([COMPILER, *options, source, "-o", library, *links], check=True)
    program = (
        "import sys, torch\n"
        "torch.ops.load_library(sys.argv[1])\n"
        "x = torch.arange(-20.0, 20.0)\n"
        "found = torch.ops.course_cpp.polynomial(x)\n"
        "assert torch.equal(found, x**3 - 3 * x + 1)\n"  # whole numbers: exact
    )
    subprocess.run([sys.executable, "-c", program, library], check=True)
