"""After the simulator is turned off, Triton still frees what it compiled."""

from __future__ import annotations

import gc
import sys

import pytest

import coursekit as ck

triton = pytest.importorskip("triton", reason="the extra dsl is not installed")
pytest.importorskip("torch")


def launched():
    """Compile and launch a kernel, and keep no more of it than Triton does."""
    import torch
    import triton.language as tl

    @triton.jit
    def one(out, BLOCK: tl.constexpr):
        tl.store(out + tl.arange(0, BLOCK), 1.0)

    with ck.triton_simulator():
        one[(1,)](torch.empty(32), BLOCK=32)


def test_kernel_is_freed_silently_after_the_simulator_is_off(monkeypatch):
    raised = []
    monkeypatch.setattr(sys, "unraisablehook", raised.append)
    launched()
    gc.collect()
    assert raised == []


def test_without_a_gpu_a_launch_after_it_is_refused_by_triton(monkeypatch):
    backends = triton.backends.backends.values()
    if any(each.driver.is_active() for each in backends):
        pytest.skip("Triton has a GPU here")
    ck.triton_simulator().off()
    with pytest.raises(RuntimeError, match="0 active drivers"):
        triton.runtime.driver.active.get_current_target()
