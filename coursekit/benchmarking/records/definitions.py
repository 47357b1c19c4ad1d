"""What a recorded benchmark consists of; `coursekit/benchmarks/` has all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from coursekit.errors import UnsupportedError


def absent(*arguments: object) -> None:
    """Stand for a peer that this machine lacks; its times may still be recorded."""
    raise UnsupportedError.explained(
        "This case runs only on a machine with a GPU and the library that it names.",
        "It is here for the times that were recorded of it.",
        "Show the benchmark, or run it where the library is installed.",
    )


@dataclass(frozen=True, kw_only=True)
class Definition:
    """A benchmark whose times are recorded.

    Attributes
    ----------
    key : str
        Path of the record below `assets/records/`, without .json.
    cases : callable
        Returns the cases by name; it compiles, so it is called when they are needed.
    sizes, setup, verify, bytes_moved, flops
        As `ck.benchmark` takes them.
    count_size : int or None
        A size small enough to be counted on the simulator, where `setup` then works
        too: arrays come from `ck.to_device` and `ck.empty`.
    peers : mapping of str to callable
        Cases of libraries: each function returns one, or None where this machine
        lacks the library, and the case is left out.
    reference : str or None
        The case that speedups refer to; by default the first.
    through : str
        What the bytes pass, as `Ceiling` calls it; a measurement finds it out by
        itself, and a record that differs is refused.
    """

    key: str
    cases: Callable[[], Mapping[str, Callable]]
    sizes: tuple[int, ...]
    setup: Callable[[int], tuple]
    verify: Callable[..., Any]
    bytes_moved: Callable[[int], int] | None = None
    flops: Any = None
    count_size: int | None = None
    peers: Mapping[str, Callable[[], Callable | None]] = field(default_factory=dict)
    reference: str | None = None
    through: str = "memory"

    def with_peers(self) -> dict[str, Callable]:
        """Return all cases, those of libraries too, the reference first.

        Without a GPU a library's case is a name for what is recorded of it.
        """
        from coursekit.runtime import backend

        cases = dict(self.cases())
        if backend.current().space == "gpu":
            built = {name: build() for name, build in self.peers.items()}
            cases |= {name: case for name, case in built.items() if case}
        else:
            cases |= dict.fromkeys(self.peers, absent)
        first = [self.reference] if self.reference in cases else []
        return {name: cases[name] for name in dict.fromkeys([*first, *cases])}

    def benchmark(self):
        """Run it: measured on a GPU, else what is recorded."""
        from coursekit.benchmarking import benchmark

        return benchmark(
            self.with_peers(),
            sizes=self.sizes,
            setup=self.setup,
            verify=self.verify,
            bytes_moved=self.bytes_moved,
            flops=self.flops,
            record=self.key,
            definition=self,
        )
