"""The C++ twin of the polynomial: it compiles on the stable ABI, and agrees."""

from __future__ import annotations

import os
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


@pytest.mark.skipif(COMPILER is None, reason="This machine has no g++.")
def test_an_exported_model_calls_the_operator_from_a_library(tmp_path):
    program = (
        "import sys, torch\n"
        "import coursekit as ck\n"
        "polynomial = ck.torch_op(\n"
        "    'course::polynomial', ck.compile('extensions/polynomial.cu'),\n"
        "    launch=lambda x, y: (1, 256, x.numel()),\n"
        "    outputs=lambda x: torch.empty_like(x))\n"
        "class Model(torch.nn.Module):\n"
        "    def forward(self, x):\n"
        "        return polynomial(x) * 2\n"
        "x = torch.arange(-8.0, 8.0)\n"
        "exported = torch.export.export(Model(), (x,))\n"
        "quick = {'aot_inductor.compile_wrapper_opt_level': 'O0'}\n"
        "package = torch._inductor.aoti_compile_and_package(\n"
        "    exported, package_path=sys.argv[1], inductor_configs=quick)\n"
        "model = torch._inductor.aoti_load_package(package)\n"
        "assert torch.equal(model(x), (x**3 - 3 * x + 1) * 2)\n"  # whole numbers: exact
    )
    environment = os.environ | {"TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-c", program, tmp_path / "model.pt2"]
    subprocess.run(command, check=True, env=environment)
