"""What `import coursekit` gives, and what it leaves alone."""

import subprocess
import sys

import pytest

import coursekit as ck

HEAVY = ("torch", "cupy", "numba", "numpy", "matplotlib", "IPython", "cuda.bindings")


@pytest.mark.parametrize("name", ck.__all__)
def test_every_public_name_can_be_used(name):
    assert getattr(ck, name) is not None


@pytest.mark.parametrize("library", HEAVY)
def test_importing_the_package_imports_no_heavy_library(library):
    code = f"import sys, coursekit; print({library!r} in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'frobnicate'"):
        ck.frobnicate  # noqa: B018


def test_dir_lists_the_public_names():
    assert {"compile", "count", "simulator", "OutOfBoundsError"} <= set(dir(ck))
