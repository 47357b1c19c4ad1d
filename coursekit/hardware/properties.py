"""DeviceProperties: the figures of one GPU, and those that follow from them."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields

from coursekit.hardware.architectures import (
    GUIDE,
    LANES_GUIDE,
    OCCUPANCY_HEADER,
    SmLimits,
)

_PCIE_GBS_PER_GENERATION = {3: 15.75, 4: 31.5, 5: 63.0, 6: 121.0}


@dataclass(frozen=True, kw_only=True, repr=False)
class DeviceProperties(SmLimits):
    """One GPU: its SMs (see `SmLimits`) and its board.

    Attributes
    ----------
    simulated : bool
        True when the figures are a data sheet's, False for the GPU in this machine.
    boost_clock_mhz : float
        Highest clock that the data sheet, or the driver, gives.
    memory_rate_gbps : float
        Gbit/s that one data pin of the memory carries.
    fp16_tensor_tflops, bf16_tensor_tflops, tf32_tensor_tflops, fp8_tensor_tflops :
        Dense peaks of the tensor cores with sums in FP32, in TFLOP/s; None where
        the format is missing or the figure unknown.
    nvlink_gbs : float or None
        All links together, both directions.
    tdp_w : float or None
        Power the board may draw.
    """

    name: str
    driver_name: str
    simulated: bool = True
    sm_count: int
    boost_clock_mhz: float
    memory_bytes: int
    memory_bus_bits: int
    memory_rate_gbps: float
    l2_bytes: int
    memory_type: str | None = None
    fp16_tensor_tflops: float | None = None
    bf16_tensor_tflops: float | None = None
    tf32_tensor_tflops: float | None = None
    fp8_tensor_tflops: float | None = None
    pcie_generation: int | None = None
    nvlink_gbs: float | None = None
    tdp_w: float | None = None
    source: str = ""
    other_sources: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def fp32_tflops(self) -> float:
        """Peak of the FP32 lanes, TFLOP/s: a fused multiply-add is 2 operations."""
        return self._lane_tflops(self.fp32_lanes_per_sm)

    @property
    def fp64_tflops(self) -> float:
        """Peak of the FP64 lanes (tensor cores apart), TFLOP/s."""
        return self._lane_tflops(self.fp64_lanes_per_sm)

    @property
    def memory_bandwidth_gbs(self) -> float:
        """Peak bandwidth of all memory pins together, in GB/s (10^9 bytes per s)."""
        return self.memory_bus_bits * self.memory_rate_gbps / 8

    @property
    def pcie_gbs(self) -> float | None:
        """Bandwidth of 16 PCIe lanes in one direction, in GB/s, after line coding."""
        generation = self.pcie_generation
        return None if generation is None else _PCIE_GBS_PER_GENERATION.get(generation)

    def source_of(self, figure: str) -> str:
        """Name the document that a figure comes from.

        Parameters
        ----------
        figure : str
            Name of an attribute, for example ``"l2_bytes"``.
        """
        if figure in self.other_sources:
            return self.other_sources[figure]
        if figure in _DERIVATIONS:
            return f"computed: {_DERIVATIONS[figure]}"
        return _SM_SOURCES.get(figure, self.source)

    def _lane_tflops(self, lanes_per_sm: int) -> float:
        return self.sm_count * lanes_per_sm * 2 * self.boost_clock_mhz * 1e-6

    def _rows(self) -> list[tuple[str, str]]:
        return [(title, text) for title, text in _describe(self) if text]

    def __repr__(self) -> str:
        """Show the figures in two columns, under the name and its origin."""
        lines = [f"{title:<20}{text}" for title, text in self._rows()]
        return "\n  ".join([f"{self.name} ({_origin(self)})", *lines])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th scope='row' style='text-align:left'>{html.escape(title)}</th>"
            f"<td style='text-align:left'>{html.escape(text)}</td></tr>"
            for title, text in self._rows()
        )
        caption = html.escape(f"{self.name} ({_origin(self)})")
        return f"<table><caption>{caption}</caption>{rows}</table>"


_SM_SOURCES = {
    **{figure.name: GUIDE for figure in fields(SmLimits)},
    "fp32_lanes_per_sm": LANES_GUIDE,
    "fp64_lanes_per_sm": LANES_GUIDE,
    "register_unit": OCCUPANCY_HEADER,
    "shared_unit_bytes": OCCUPANCY_HEADER,
}

_DERIVATIONS = {
    "fp32_tflops": "sm_count x fp32_lanes_per_sm x 2 x boost_clock_mhz",
    "fp64_tflops": "sm_count x fp64_lanes_per_sm x 2 x boost_clock_mhz",
    "memory_bandwidth_gbs": "memory_bus_bits x memory_rate_gbps / 8",
    "max_warps_per_sm": "max_threads_per_sm / warp_size",
    "tensor_core_generation": "the white paper of the architecture",
    "pcie_gbs": "16 lanes of pcie_generation, after line coding",
    "shared_bytes_per_block_optin": (
        "shared_bytes_per_sm - shared_reserved_bytes_per_block"
    ),
}


def _origin(device: DeviceProperties) -> str:
    return "data sheet, simulated" if device.simulated else "the GPU of this machine"


def _describe(device: DeviceProperties) -> Iterator[tuple[str, str]]:
    """Yield the title and the text of each figure; an empty text means unknown."""
    major, minor = device.compute_capability
    yield "architecture", f"{device.architecture}, compute capability {major}.{minor}"
    yield "SMs", f"{device.sm_count} at up to {device.boost_clock_mhz:.0f} MHz"
    yield (
        "lanes per SM",
        f"{device.fp32_lanes_per_sm} FP32, {device.fp64_lanes_per_sm} FP64",
    )
    yield (
        "peak, lanes",
        f"FP32 {device.fp32_tflops:.1f}, FP64 {device.fp64_tflops:.2f} TFLOP/s",
    )
    yield "peak, tensor cores", _tensor_text(device)
    yield (
        "memory",
        f"{device.memory_bytes / 2**30:.4g} GiB {device.memory_type or ''}, "
        f"{device.memory_bus_bits} bit, {device.memory_bandwidth_gbs:.0f} GB/s",
    )
    yield "L2 cache", f"{device.l2_bytes / 2**20:g} MiB"
    yield (
        "shared memory",
        f"{device.shared_bytes_per_sm // 1024} KiB per SM; a block "
        f"{device.shared_bytes_per_block // 1024} KiB, "
        f"{device.shared_bytes_per_block_optin // 1024} KiB on request",
    )
    yield (
        "registers",
        f"{device.registers_per_sm} per SM, "
        f"at most {device.max_registers_per_thread} per thread",
    )
    yield (
        "resident per SM",
        f"{device.max_threads_per_sm} threads, {device.max_warps_per_sm} warps, "
        f"{device.max_blocks_per_sm} blocks",
    )
    yield "links", _link_text(device)
    yield "power", f"{device.tdp_w:.0f} W" if device.tdp_w else ""


def _tensor_text(device: DeviceProperties) -> str:
    peaks = {
        "FP16": device.fp16_tensor_tflops,
        "BF16": device.bf16_tensor_tflops,
        "TF32": device.tf32_tensor_tflops,
        "FP8": device.fp8_tensor_tflops,
    }
    shown = ", ".join(f"{kind} {peak:g}" for kind, peak in peaks.items() if peak)
    return f"{shown} TFLOP/s, dense" if shown else ""


def _link_text(device: DeviceProperties) -> str:
    links = []
    if device.pcie_gbs:
        links.append(
            f"PCIe {device.pcie_generation} x16 {device.pcie_gbs:g} GB/s each way"
        )
    if device.nvlink_gbs:
        links.append(f"NVLink {device.nvlink_gbs:g} GB/s both ways together")
    return ", ".join(links)
