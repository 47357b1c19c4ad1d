"""Rates of the model's engines: given by the caller, or recorded on a GPU."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from coursekit.errors import ArgumentError
from coursekit.lessons.timeline.program import IN


def exact(name: str, value: float) -> Fraction:
    """Convert a number to the fraction that its decimal text says, for exact sums.

    >>> exact("us", 0.1) * 3 == exact("us", 0.3)
    True
    """
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not 0 <= number < math.inf or (number == 0 and name not in ("us", "launch_us")):
        raise ArgumentError.explained(
            f"The timeline got {name}={value!r}.",
            "Times, sizes, rates and shares are positive numbers.",
            f"Give {name} as a number above 0.",
        )
    return Fraction(value if isinstance(value, int) else repr(number))


@dataclass(frozen=True)
class Rates:
    """The rates of the model, and their origin.

    Attributes
    ----------
    h2d_gbps, d2h_gbps, pageable_gbps : Fraction
        Rates of copies in 10^9 bytes per second.
    launch_us : Fraction
    origin : str
    """

    h2d_gbps: Fraction
    d2h_gbps: Fraction
    launch_us: Fraction
    pageable_gbps: Fraction
    origin: str

    def of(self, direction: str, pinned: bool) -> Fraction:
        """Return the rate of a copy."""
        if not pinned:
            return self.pageable_gbps
        return self.h2d_gbps if direction == IN else self.d2h_gbps

    def __str__(self) -> str:
        return (
            f"{self.origin}: {float(self.h2d_gbps):g} GB/s in, "
            f"{float(self.d2h_gbps):g} GB/s out, "
            f"{float(self.launch_us):g} us a launch"
        )


@dataclass(frozen=True)
class Recorded:
    """The model's rates as they were measured on a GPU.

    Attributes
    ----------
    device, date : str
    numbers : dict of str to float
        Rates by the names of `Timeline`'s parameters, to three digits.
    """

    device: str
    date: str
    numbers: dict[str, float]


def recorded() -> Recorded | None:
    """Read the rates from the records of copies and launches, if there are any.

    Rates are those of the largest copy. The cost of a launch is the mean over the
    longest row of empty kernels, launched by machine code.
    """
    from coursekit.benchmarking.records import records

    copies = [records.load(f"moving/{key}") for key in ("to_device", "to_host")]
    launches = records.load("moving/launches")
    if None in (*copies, launches):
        return None
    pinned, pageable = ([_gbps(r, kind) for r in copies] for kind in _MEMORIES)
    last = _largest(launches, "machine code")
    numbers = {
        "h2d_gbps": pinned[0],
        "d2h_gbps": pinned[1],
        "launch_us": last.median_ms * 1000 / last.size,
        "pageable_gbps": min(pageable),
    }
    short = {name: float(f"{value:.3g}") for name, value in numbers.items()}
    return Recorded(copies[0].device, copies[0].date, short)


_MEMORIES = ("pinned", "pageable")


def _largest(record, case: str):
    rows = (row for row in record.rows if row.case == case)
    return max(rows, key=lambda row: row.size)


def _gbps(record, case: str) -> float:
    row = _largest(record, case)
    return row.size / (row.median_ms * 1e6)


def choose(h2d_gbps, d2h_gbps, launch_us, pageable_gbps) -> Rates:
    """Combine given rates with recorded ones.

    Raises
    ------
    ArgumentError
        Something is neither given nor recorded.
    """
    given = {"h2d_gbps": h2d_gbps, "d2h_gbps": d2h_gbps, "launch_us": launch_us}
    missing = [name for name, value in given.items() if value is None]
    record = recorded() if missing else None
    if missing and record is None:
        raise ArgumentError.explained(
            f"Timeline needs {', '.join(missing)}.",
            "The course has no record of a GPU from which it could take them.",
            "Give numbers, such as Timeline(h2d_gbps=50, d2h_gbps=50, launch_us=5).",
        )
    chosen = {n: record.numbers[n] if v is None else v for n, v in given.items()}
    numbers = [exact(name, value) for name, value in chosen.items()]
    if pageable_gbps is None:
        copies = {"h2d_gbps", "d2h_gbps"} <= set(missing)
        slower = min(chosen["h2d_gbps"], chosen["d2h_gbps"])
        pageable_gbps = record.numbers["pageable_gbps"] if copies else slower
    return Rates(
        *numbers, exact("pageable_gbps", pageable_gbps), _origin(record, given)
    )


def _origin(record: Recorded | None, given: dict) -> str:
    if record is None:
        return "numbers given"
    where = f"numbers of an {record.device}, recorded {record.date}"
    own = [name for name, value in given.items() if value is not None]
    return where + (f", but {', '.join(own)} given" if own else "")
