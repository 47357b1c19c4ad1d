"""The least time of a problem on a GPU, by its bandwidth and its peak rate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from coursekit.errors import ArgumentError
from coursekit.hardware.properties import DeviceProperties

TOLERANCE = 1.05  # a result above 105 % of a limit is an error, not a record
KINDS = ("fp32", "fp64", "fp16_tensor", "bf16_tensor", "tf32_tensor", "fp8_tensor")


@dataclass(frozen=True)
class Ceiling:
    """The limits of a device, and the work that a problem needs at each size.

    Attributes
    ----------
    device : str
        The GPU whose data sheet sets the limits.
    bytes_moved, flops : dict of int to int
        Bytes and floating-point operations by size; empty where nobody said.
    bandwidth_gbs : float or None
        Limit of the memory, or of the link to the host, in 10^9 bytes a second.
    peak_tflops : float or None
        Limit of the arithmetic, in 10^12 operations a second.
    kind : str
        The arithmetic that `peak_tflops` is for, one of `KINDS`.
    through : str
        What the bytes pass: "memory"; or "link", one way between host and device;
        or "links", both ways.
    """

    device: str
    bytes_moved: Mapping[int, int] = field(default_factory=dict)
    flops: Mapping[int, int] = field(default_factory=dict)
    bandwidth_gbs: float | None = None
    peak_tflops: float | None = None
    kind: str = "fp32"
    through: str = "memory"

    @property
    def quantity(self) -> str:
        """The quantity that plots show: "bandwidth", "arithmetic" or "time"."""
        if self.flops:
            return "arithmetic"
        return "bandwidth" if self.bytes_moved else "time"

    def bytes_ms(self, size: int) -> float:
        """Return the least time that moving the bytes takes, in ms; 0 if unknown."""
        if not (self.bandwidth_gbs and self.bytes_moved):
            return 0.0
        return self.bytes_moved[size] / self.bandwidth_gbs * 1e-6

    def flops_ms(self, size: int) -> float:
        """Return the least time that the operations take, in ms; 0 if unknown."""
        if not (self.peak_tflops and self.flops):
            return 0.0
        return self.flops[size] / self.peak_tflops * 1e-9

    def bound_ms(self, size: int) -> float:
        """Return the least time of a size, in ms; 0 where no limit is known."""
        return max(self.bytes_ms(size), self.flops_ms(size))

    def sentence(self, size: int) -> str:
        """Return the limit of a size as a sentence; empty where none is known."""
        bound = self.bound_ms(size)
        if not bound:
            return ""
        if self.bytes_ms(size) >= self.flops_ms(size):
            what = f"move {self.bytes_moved[size]:,} bytes"
            what += "" if self.through == "memory" else " over the link to its host"
        else:
            what = f"do {self.flops[size]:,} operations"
        article = "an" if self.device[:1] in "AEFHLMNRSX" else "a"
        return f"{article} {self.device} cannot {what} in less than {in_units(bound)}"


def in_units(milliseconds: float) -> str:
    """Format a time with three digits, in s, ms, us or ns."""
    for factor, unit in ((1e-3, "s"), (1.0, "ms"), (1e3, "us"), (1e6, "ns")):
        if milliseconds * factor >= 1 or unit == "ns":
            return f"{milliseconds * factor:.3g} {unit}"
    raise AssertionError


def ceiling(
    device: DeviceProperties,
    sizes: Sequence[int],
    bytes_moved: Callable[[int], int] | None = None,
    flops: Any = None,
    through: str = "memory",
) -> Ceiling:
    """Work out the limits of a device for a problem.

    Parameters
    ----------
    device : DeviceProperties
    sizes : sequence of int
    bytes_moved : callable, optional
        Bytes that must move for a size: each input read once, each output written
        once.
    flops : callable or (str, callable), optional
        Floating-point operations of a size, a fused multiply-add being two; on the
        FP32 lanes, or on the units that one of `KINDS` names.
    through : str
        As `Ceiling` has it.

    Raises
    ------
    ArgumentError
        If a function is none, or returns what is no positive number.
    """
    kind, flops = flops if isinstance(flops, tuple) else ("fp32", flops)
    if kind not in KINDS:
        raise ArgumentError.explained(
            f"benchmark knows no arithmetic {kind!r}.",
            "The peak depends on the units that compute.",
            f"Take one of {', '.join(KINDS)}: flops=('bf16_tensor', function).",
        )
    links = {"link": 1, "links": 2}.get(through)
    link_gbs = device.pcie_gbs * links if links and device.pcie_gbs else None
    return Ceiling(
        device=_short(device.name),
        bytes_moved=_by_size("bytes_moved", bytes_moved, sizes),
        flops=_by_size("flops", flops, sizes),
        bandwidth_gbs=link_gbs if links else device.memory_bandwidth_gbs,
        peak_tflops=getattr(device, f"{kind}_tflops"),
        kind=kind,
        through=through,
    )


def _short(name: str) -> str:
    return name.removeprefix("NVIDIA ")


def _by_size(name: str, function: Any, sizes: Sequence[int]) -> dict[int, int]:
    if function is None:
        return {}
    if not callable(function):
        raise ArgumentError.explained(
            f"benchmark got {name}={function!r}.",
            "It differs from size to size.",
            f"Pass a function of the size, such as {name}=lambda n: 12 * n.",
        )
    amounts = {size: function(size) for size in sizes}
    for size, value in amounts.items():
        if not isinstance(value, (int, float)) or not value > 0:
            raise ArgumentError.explained(
                f"benchmark: {name}({size}) returns {value!r}.",
                "It is the amount of work of that size.",
                "Return a positive number.",
            )
    return {size: round(value) for size, value in amounts.items()}
