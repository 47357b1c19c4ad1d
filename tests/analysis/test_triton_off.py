"""After the simulator is turned off, Triton still frees what it compiled."""

from __future__ import annotations

import gc
import sys

import pytest

import coursekit as ck

triton = pytest.importorskip("triton", reason="the extra dsl is not installed")
torch = pytest.importorskip("torch", reason="PyTorch is not installed")
import triton_kernels  # noqa: E402 (needs Triton)


@pytest.fixture
def driver(monkeypatch):
    """Return Triton's drivers on a machine that has no GPU, none of them active."""
    if any(each.driver.is_active() for each in triton.backends.backends.values()):
        pytest.skip("Triton has a GPU here")
    monkeypatch.setattr(triton.runtime.driver, "_active", None)
    return triton.runtime.driver


def test_kernels_are_freed_after_the_simulator_is_off(driver, monkeypatch):
    failed = []
    monkeypatch.setattr(sys, "unraisablehook", failed.append)
    x, out = torch.ones(2, 64)
    with ck.triton_simulator():
        compiled = triton_kernels.add[(1,)](x, x, out, 64, BLOCK=64)
    assert out.tolist() == [2.0] * 64
    compiled.__del__()  # raises in the face of the test, too
    triton_kernels.add.device_caches.clear()
    del compiled
    gc.collect()
    assert failed == []


def test_all_else_is_refused_by_triton(driver):
    ck.triton_simulator().off()
    with pytest.raises(RuntimeError, match="0 active drivers"):
        driver.active.get_current_target()
