"""Benchmarks of the memory hierarchy: latency and bandwidth of every level."""

from __future__ import annotations

from coursekit.benchmarks.memory import bandwidth, latency, lines

DEFINITIONS = (
    *latency.DEFINITIONS,
    *lines.DEFINITIONS,
    *bandwidth.DEFINITIONS,
)
