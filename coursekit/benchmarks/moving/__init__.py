"""Benchmarks of moving data, of overlapping copies with work, and of launching."""

from __future__ import annotations

from coursekit.benchmarks.moving import copies, launches, overlap

DEFINITIONS = (*copies.DEFINITIONS, *overlap.DEFINITIONS, *launches.DEFINITIONS)
