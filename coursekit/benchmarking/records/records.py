"""Read and write recorded times, the files of `assets/records/`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from coursekit import paths
from coursekit.benchmarking.results import Row
from coursekit.errors import LaunchError

SCHEMA = 1


@dataclass(frozen=True, kw_only=True)
class Record:
    """Times of one benchmark on one GPU.

    Attributes
    ----------
    key : str
        Path below `assets/records/`, without .json.
    device, driver, toolkit : str
        The GPU, its driver, and the compiler that made the kernels.
    libraries : dict of str to str
        Versions of what took part.
    date : str
        Day of the measurement, YYYY-MM-DD.
    source_sha256 : str
        Hash of `case_sha256`, which has the hash of each case's kernels.
    commit : str or None
        Where the sources are found; None where they were not committed.
    through : str
        What the bytes pass: "memory", or "links" to the host.
    rows : tuple of Row
    """

    schema: int = SCHEMA
    key: str
    device: str
    driver: str
    toolkit: str
    libraries: Mapping[str, str]
    date: str
    source_sha256: str
    case_sha256: Mapping[str, str]
    commit: str | None
    through: str = "memory"
    rows: tuple[Row, ...]


def folder() -> Path:
    """Return the folder of the records."""
    return paths.repository() / "assets" / "records"


def load(key: str) -> Record | None:
    """Read a record; None where there is none.

    Raises
    ------
    LaunchError
        The file is no record of this key.
    """
    path = folder() / f"{key}.json"
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    try:
        return _record(json.loads(text), key)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise LaunchError.explained(
            f"assets/records/{key}.json is no record: {error}.",
            "It was written by hand, or by another version of the course.",
            f"Restore the file, or run `python -m coursekit record {key}` on a GPU.",
        ) from error


def time_us(key: str, case: str, size: int) -> float:
    """Return a recorded median in microseconds; 0 where nothing is recorded.

    Examples
    --------
    >>> time_us("no/such", "copy", 1024)
    0.0
    """
    rows = getattr(load(key), "rows", ())
    times = (1e3 * r.median_ms for r in rows if (r.case, r.size) == (case, size))
    return next(times, 0.0)


def write(record: Record, place: Path | None = None) -> Path:
    """Write a record below a folder, by default the course's; returns the file."""
    path = (place or folder()) / f"{record.key}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    content = asdict(record)
    rows = [_rounded(row) for row in content.pop("rows")]
    head = json.dumps(content, indent=1, ensure_ascii=False)[:-2]
    lines = ",\n".join("  " + json.dumps(row) for row in rows)
    path.write_text(f'{head},\n "rows": [\n{lines}\n ]\n}}\n', encoding="utf-8")
    return path


def keys() -> list[str]:
    """List the keys of all records."""
    files = sorted(folder().rglob("*.json"))
    return [path.relative_to(folder()).with_suffix("").as_posix() for path in files]


def stale(record: Record, cases: Mapping[str, Callable]) -> list[str]:
    """Name the cases whose kernels, or whose presence, have changed since.

    A recorded case of a library may be absent: not every machine has the library.
    """
    from coursekit.benchmarking.records.case_sources import LIBRARY, sha256

    then = record.case_sha256
    now = {name: sha256(case) for name, case in cases.items()}
    names = [n for n in dict.fromkeys([*then, *now]) if n in now or then[n] != LIBRARY]
    return [name for name in names if then.get(name) != now.get(name)]


def _record(content: dict, key: str) -> Record:
    if content["schema"] != SCHEMA or content["key"] != key:
        raise ValueError(f"schema {content['schema']}, key {content['key']!r}")
    names = {item.name for item in fields(Record)}
    rows = tuple(Row(**row) for row in content["rows"])
    if not rows or any(not row.median_ms > 0 for row in rows):
        raise ValueError("times that are not positive")
    return Record(**{k: v for k, v in content.items() if k in names} | {"rows": rows})


def _rounded(row: dict) -> dict:
    """Round the numbers of a row to five digits, more than a measurement has."""
    return {k: float(f"{v:.5g}") if type(v) is float else v for k, v in row.items()}
