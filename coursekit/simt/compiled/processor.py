"""Instruction-set features of this computer's processor."""

from __future__ import annotations

import functools
import platform

import llvmlite.binding as llvm


@functools.cache
def has(feature: str) -> bool:
    """Whether an x86 processor has a feature; other processors have all of these."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return True
    return llvm.get_host_cpu_features().get(feature, False)
