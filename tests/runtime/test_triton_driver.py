"""Without Triton, or with another version, the message says how to get it."""

from __future__ import annotations

import sys
import types

import pytest

import coursekit as ck
from coursekit import errors
from coursekit.runtime import triton_arguments, triton_driver


def test_missing_triton_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "triton", None)
    with pytest.raises(errors.UnsupportedError) as caught:
        ck.triton_simulator()
    assert caught.value.what == "Triton is not installed."
    assert "`make setup EXTRAS=dsl`" in str(caught.value)


@pytest.mark.parametrize("version", ["3.5.1", "4.0.0"])
def test_other_version_says_which_are_known(monkeypatch, version):
    other = types.SimpleNamespace(__version__=version)
    monkeypatch.setitem(sys.modules, "triton", other)
    with pytest.raises(errors.UnsupportedError, match=f"Triton {version} cannot run"):
        triton_driver.imported()


@pytest.mark.parametrize("version", ["3.6.0", "3.7.1", "3.9.0+git1234"])
def test_known_version_is_taken(monkeypatch, version):
    known = types.SimpleNamespace(__version__=version)
    monkeypatch.setitem(sys.modules, "triton", known)
    assert triton_driver.imported() is known


def test_parameters_are_named_as_in_the_signature():
    signature = {
        "x": "*fp32",
        "BLOCK": "constexpr",
        "pair": ("i32", "*fp16"),
        "n": "i64",
    }
    names = [name for name, _ in triton_arguments.parameters(signature)]
    assert names == ["x", "pair_0", "pair_1", "n"]
