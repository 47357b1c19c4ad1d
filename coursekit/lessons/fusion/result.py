"""The result of `ck.fusion`: kernels, bytes, launches, and a bound on the time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from coursekit.hardware import DeviceProperties
from coursekit.lessons.fusion.chain import Operation
from coursekit.lessons.fusion.model import FusedKernel, Traffic, grouped


@dataclass(frozen=True, repr=False)
class Fusion:
    """A chain of operations, cut into kernels.

    Attributes
    ----------
    operations : tuple of Operation
    kernels : tuple of FusedKernel
        The kernels in the order of their launches.
    device : DeviceProperties
        Whose bandwidth bounds the time.
    """

    operations: tuple[Operation, ...]
    kernels: tuple[FusedKernel, ...]
    device: DeviceProperties

    @property
    def launches(self) -> int:
        """Number of kernels."""
        return len(self.kernels)

    @property
    def bytes_least(self) -> int:
        """The bytes that have to move: each kernel moves each tensor once."""
        return sum(kernel.least for kernel in self.kernels)

    @property
    def bytes_asked(self) -> int:
        """The bytes of the sectors that warps request, as ``ck.count`` counts them.

        They are more than the least where a tensor is broadcast: caches serve the rest.
        """
        return sum(kernel.asked for kernel in self.kernels)

    @property
    def bound_us(self) -> float:
        """A lower bound: microseconds that memory needs for the least bytes.

        It holds for tensors much larger than L2, which serves smaller ones faster.
        """
        return self.bytes_least / self.device.memory_bandwidth_gbs * 1e-3

    @property
    def unfused(self) -> Fusion:
        """The fusion result of the same chain with a kernel for each operation."""
        return Fusion(self.operations, grouped(self.operations, ()), self.device)

    @property
    def kept_on_chip(self) -> tuple[str, ...]:
        """The results that no kernel writes to memory."""
        written = {part.name for kernel in self.kernels for part in kernel.writes}
        return tuple(op.name for op in self.operations if op.name not in written)

    @property
    def bytes_of_all_tensors(self) -> int:
        """Bytes of the inputs and of every result, each once."""
        chain = self.operations
        tensors = {tensor for op in chain for tensor in (*op.reads, op.result)}
        return sum(tensor.nbytes for tensor in tensors)

    @property
    def summary(self) -> str:
        """Launches, bytes and the bound, against the unfused chain."""
        apart = self.unfused
        text = (
            f"{_counted(self.launches, 'launch', 'es')}, {_bytes(self.bytes_least)} at "
            f"least: {_digits(self.bound_us, 3)} us or more through the memory of the "
            f"{self.device.name}."
        )
        if self.launches == apart.launches:
            return text
        share = self.bytes_least / apart.bytes_least
        return (
            f"{text} Unfused: {apart.launches} launches, {_bytes(apart.bytes_least)}, "
            f"{_digits(apart.bound_us, 3)} us; {share:.0%} of the bytes remain."
        )

    def rows(self) -> Iterator[tuple[str, str, str, str]]:
        """Yield each kernel: its lines, what it reads, what it writes, its bytes."""
        for kernel in self.kernels:
            yield (
                "; ".join(operation.text for operation in kernel.operations),
                _traffic(kernel.reads),
                _traffic(kernel.writes),
                _bytes(kernel.least),
            )

    @property
    def remarks(self) -> tuple[str, ...]:
        """Assumptions behind the bound, as sentences."""
        sentences = ["A bound by bytes alone: launches and arithmetic come on top."]
        if self.bytes_asked != self.bytes_least:
            sentences.append(
                f"Warps ask for {_bytes(self.bytes_asked)} in sectors of 32 bytes; "
                "what is more than the least, caches can serve."
            )
        if self.bytes_of_all_tensors <= self.device.l2_bytes:
            sentences.append(
                f"All these tensors fit the L2 of {self.device.l2_bytes / 2**20:g} "
                "MiB, which is faster than memory: the bound is for larger ones."
            )
        if rows := [k for k in self.kernels if _keeps_rows(k)]:
            longest = max(op.extent[-1] for k in rows for op in k.operations)
            sentences.append(
                f"A kernel that reduces rows and goes on with them keeps a row of "
                f"{longest:,} elements on the chip, or reads it again."
            )
        return tuple(sentences)

    def __repr__(self) -> str:
        lines = [
            f"  {number}. {text}\n     reads {reads}; writes {writes}; {total}"
            for number, (text, reads, writes, total) in enumerate(self.rows(), start=1)
        ]
        told = [f"  {line}" for line in (self.summary, *self.remarks)]
        return "\n".join(["Fusion", *lines, *told])

    def _repr_html_(self) -> str:
        left = 'style="text-align:left"'
        head = "".join(
            f'<th scope="col" {left}>{text}</th>'
            for text in ("launch", "computes", "reads", "writes", "bytes at least")
        )
        body = "".join(
            f'<tr><th scope="row" {left}>{number}</th>'
            + "".join(f"<td {left}>{escape(cell)}</td>" for cell in row)
            + "</tr>"
            for number, row in enumerate(self.rows(), start=1)
        )
        told = "".join(f"<div>{escape(line)}</div>" for line in self.remarks)
        return (
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
            f"<div><b>{escape(self.summary)}</b></div>{told}"
        )


def _keeps_rows(kernel: FusedKernel) -> bool:
    inside = {op.name for op in kernel.operations if op.reduces == "rows"}
    return any(tensor.name in inside for op in kernel.operations for tensor in op.reads)


def _traffic(parts: tuple[Traffic, ...]) -> str:
    return ", ".join(f"{part.name} {_bytes(part.least)}" for part in parts) or "nothing"


def _bytes(number: int) -> str:
    """Write bytes exactly when short, else in powers of ten with three digits."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if number >= 10 * size:
            return f"{_digits(number / size, 4)} {unit}"
    return f"{number:,} B"


def _digits(number: float, digits: int) -> str:
    """Write a number with so many digits, and never with an exponent."""
    return f"{float(f'{number:.{digits}g}'):,g}"


def _counted(number: int, noun: str, plural: str) -> str:
    return f"{number} {noun}{'' if number == 1 else plural}"
