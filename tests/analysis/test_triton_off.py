"""After the simulator is turned off, Triton still frees what it compiled."""

from __future__ import annotations

import pytest

import coursekit as ck

triton = pytest.importorskip("triton", reason="the extra dsl is not installed")


@pytest.fixture
def driver(monkeypatch):
    """Return Triton's drivers on a machine that has no GPU, none of them active."""
    if any(each.driver.is_active() for each in triton.backends.backends.values()):
        pytest.skip("Triton has a GPU here")
    monkeypatch.setattr(triton.runtime.driver, "_active", None)
    return triton.runtime.driver


def test_kernels_are_freed_after_the_simulator_is_off(driver):
    ck.triton_simulator().off()
    driver.active.utils.unload_module(None)  # as CompiledKernel.__del__ does


def test_all_else_is_refused_by_triton(driver):
    ck.triton_simulator().off()
    with pytest.raises(RuntimeError, match="0 active drivers"):
        driver.active.get_current_target()
