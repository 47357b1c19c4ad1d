"""Occupancy: the result of `ck.occupancy`, with its limits, its text and its table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape

from coursekit.analysis.occupancy import advice, rules
from coursekit.analysis.occupancy.advice import counted
from coursekit.analysis.occupancy.rules import NAMES, UNLIMITED, Demand
from coursekit.hardware import DeviceProperties


@dataclass(frozen=True, repr=False)
class Occupancy:
    """The number of blocks of a launch that an SM holds at once, and its limits.

    Attributes
    ----------
    kernel : str
    device : DeviceProperties
    demand : Demand
        What one block asks for.
    grid_blocks : int or None
        Blocks of the launch.
    """

    kernel: str
    device: DeviceProperties
    demand: Demand
    grid_blocks: int | None = None

    @property
    def limits(self) -> Mapping[str, int]:
        """Blocks per SM that each resource allows, as Nsight Compute reports them.

        The keys are "SM", "registers", "shared" and "warps", and "barriers" where
        there is such a limit. "shared" is that of the chosen configuration.
        """
        limits = dict(rules.limits(self.device, self.demand))
        size = self.shared_configuration_bytes
        limits["shared"] = rules.shared_limit(self.device, self.demand, size)
        return {
            name: most
            for name, most in limits.items()
            if name != "barriers" or most < UNLIMITED
        }

    @property
    def largest_limits(self) -> Mapping[str, int]:
        """The limits, with "shared" for the largest configuration of the SM."""
        return rules.limits(self.device, self.demand)

    @property
    def blocks(self) -> int:
        """Blocks that an SM holds at once; 0 where the launch is impossible."""
        return rules.blocks(self.device, self.demand)

    @property
    def bound_by(self) -> tuple[str, ...]:
        """The limits that keep the next block out, whatever the configuration."""
        return tuple(
            n for n, most in self.largest_limits.items() if most == self.blocks
        )

    @property
    def warps_per_block(self) -> int:
        """Warps of a block; the last may be partly empty."""
        return rules.warps_of(self.device, self.demand)

    @property
    def active_warps(self) -> int:
        """Warps that an SM holds at once."""
        return self.blocks * self.warps_per_block

    @property
    def percent(self) -> float:
        """Theoretical occupancy in %: active warps per warp slot of an SM."""
        return 100 * self.active_warps / self.device.max_warps_per_sm

    @property
    def registers_per_block(self) -> int:
        """Registers that a block takes, each warp's rounded up to the unit."""
        return rules.registers_of_warp(self.device, self.demand) * self.warps_per_block

    @property
    def shared_bytes_per_block(self) -> int:
        """Shared memory that a block takes, the driver's share included."""
        return rules.shared_of_block(self.device, self.demand)

    @property
    def shared_configuration_bytes(self) -> int:
        """Smallest size of shared memory, set aside of L1, with which no block is lost.

        The driver chooses the size, and may choose a larger one at the cost of L1: an
        H200 did so in 13 of 21 launches (2026-11-21). No number of blocks changed.
        """
        return rules.configuration(self.device, self.demand)

    @property
    def waves(self) -> float | None:
        """Waves: how often the grid fills all SMs; None without a grid."""
        if not self.grid_blocks or not self.blocks:
            return None
        return self.grid_blocks / (self.blocks * self.device.sm_count)

    @property
    def advice(self) -> tuple[str, ...]:
        """Sentences that say what would have to change for one more block per SM."""
        return advice.sentences(self.device, self.demand)

    def rows(self) -> Iterator[tuple[str, int, str]]:
        """Yield the name of each limit, its blocks per SM, and its reason."""
        why = {
            "SM": f"an SM has {self.device.max_blocks_per_sm} block slots",
            "registers": self._registers_text(),
            "shared": self._shared_text(),
            "warps": f"{counted(self.warps_per_block, 'warp')} per block, "
            f"{self.device.max_warps_per_sm} per SM",
            "barriers": f"{self.demand.barriers} per block",
        }
        for name, most in self.limits.items():
            yield NAMES[name], most, why[name]

    def _registers_text(self) -> str:
        return (
            f"{self.demand.registers} per thread, {self.registers_per_block:,} per "
            f"block, {self.device.registers_per_sm:,} per SM"
        )

    def _shared_text(self) -> str:
        reserve = self.device.shared_reserved_bytes_per_block
        text = f"{self.shared_bytes_per_block:,} B per block" + (
            f", {reserve:,} of them the driver's" if reserve else ""
        )
        if not self.blocks:
            return text
        text += f"; a configuration of {self.shared_configuration_bytes:,} B suffices"
        largest = self.largest_limits["shared"]
        if largest == self.limits["shared"] or largest == UNLIMITED:
            return text
        return (
            f"{text}; the largest, {self.device.shared_bytes_per_sm:,}, holds {largest}"
        )

    @property
    def title(self) -> str:
        """Title that names the launch and the device."""
        major, minor = self.device.compute_capability
        return (
            f"Occupancy of {self.kernel}, {self.demand.threads} threads per block, on "
            f"the {self.device.name} (compute capability {major}.{minor})"
        )

    @property
    def summary(self) -> str:
        """Summary in a sentence or two: the blocks that fit, and what limits them."""
        if not self.blocks:
            return "No block fits an SM: this launch is refused."
        bound = " and ".join(NAMES[name] for name in self.bound_by)
        text = (
            f"{counted(self.blocks, 'block')} per SM, limited by {bound}: "
            f"{self.active_warps} of {self.device.max_warps_per_sm} warps, "
            f"{self.percent:.2f} %."
        )
        if self.waves is None:
            return text
        return (
            f"{text} A grid of {self.grid_blocks:,} on {self.device.sm_count} SMs "
            f"takes {self.waves:.2f} waves."
        )

    def __repr__(self) -> str:
        lines = [f"  {_blocks(n):>9}  {name:<14} {why}" for name, n, why in self.rows()]
        told = [f"  {line}" for line in (self.summary, *self.advice)]
        return "\n".join([self.title, "  blocks per SM by", *lines, *told])

    def _repr_html_(self) -> str:
        left = 'style="text-align:left"'
        right = 'style="text-align:right;font-variant-numeric:tabular-nums"'
        rows = "".join(
            f'<tr><th scope="row" {left}>{escape(name)}</th>'
            f"<td {right}>{_blocks(most)}</td><td {left}>{escape(why)}</td></tr>"
            for name, most, why in self.rows()
        )
        head = "".join(
            f'<th scope="col" {left}>{text}</th>'
            for text in ("limit", "blocks per SM", "because")
        )
        told = "".join(f"<div>{escape(line)}</div>" for line in self.advice)
        return (
            f"<table><caption {left}>{escape(self.title)}</caption>"
            f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
            f"<div><b>{escape(self.summary)}</b></div>{told}"
        )


def _blocks(number: int) -> str:
    return "no limit" if number == UNLIMITED else f"{number:,}"
