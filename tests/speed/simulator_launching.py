"""Launches a case on the simulator, again and again, without copies in between."""

from __future__ import annotations

import sys
import time

import numpy as np

import coursekit as ck
from coursekit.runtime.arguments.signature import stage
from coursekit.runtime.configuration import configure
from coursekit.simt.checks.races import RaceCheck

# On Linux, seconds that this process ran: other programs may share its core.
clock = time.process_time if sys.platform == "linux" else time.perf_counter


class Prepared:
    """A kernel with its arguments in simulated memory.

    Parameters
    ----------
    module
        The compiled kernels.
    case : simulator_cases.Case
    engine : str
        "compiled", or "interpreter".
    """

    def __init__(self, module, case, engine: str = "compiled"):
        self.case, self.engine = case, engine
        self.kernel = module[case.kernel]
        with ck.simulator(timeout_s=600) as simulation:
            self.backend = simulation.backend
            self.arguments = tuple(
                ck.to_device(a) if isinstance(a, np.ndarray) else a
                for a in case.arguments
            )
        self.output = next(a for a in reversed(self.arguments) if hasattr(a, "dtype"))
        values = self.kernel.signature.convert(self.arguments)
        self.staged = stage(self.backend, self.kernel.signature.rules, values)
        self.configuration = configure(case.kernel, case.grid, case.block)
        self.backend.needs(self.kernel)  # parses the PTX

    def launch(self):
        """Launch once, counting; returns the engine's LaunchResult."""
        return self.backend.launch(
            self.kernel,
            self.configuration,
            self.staged,
            counters=True,
            engine=self.engine,
        )

    def seconds(self) -> float:
        """Seconds of one launch."""
        start = clock()
        self.launch()
        return clock() - start

    def race_seconds(self) -> float:
        """Seconds of one launch that is checked for races, in compiled code."""
        start = clock()
        result = self.backend.launch(
            self.kernel,
            self.configuration,
            self.staged,
            observer=RaceCheck(),
            engine=self.engine,
        )
        seconds = clock() - start
        if result.engine != self.engine:
            raise AssertionError(f"{self.case.kernel}: {result.note}")
        return seconds

    def check(self) -> None:
        """Raise unless the output is right."""
        self.case.check(ck.to_host(self.output))
