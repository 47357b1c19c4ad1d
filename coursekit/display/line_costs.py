"""Show the source of a kernel with the costs of each line."""

from __future__ import annotations

from coursekit.display.listing import Cell, Listing, Row, highlighted, plain
from coursekit.errors import ArgumentError
from coursekit.simt import FIELDS, Counters

BAR = 8
# The title of a column, and the counters that it sums.
COLUMNS = {
    "global sectors": (
        "global_load_sectors", "global_store_sectors", "global_atomic_sectors",
    ),
    "shared wavefronts": (
        "shared_load_wavefronts", "shared_store_wavefronts",
        "shared_atomic_wavefronts",
    ),
    "bank conflicts": ("shared_load_bank_conflicts", "shared_store_bank_conflicts"),
    "flops": ("flops_fp16", "flops_fp32", "flops_fp64", "tensor_flops"),
    "barriers": ("barriers",),
}  # fmt: skip


def show_profile(counters: Counters, *, heat: str | None = None) -> Listing:
    """Show the source of a launch with the counts of each line.

    Parameters
    ----------
    counters : Counters
        The result of `ck.count`, with the costs of each line.
    heat : str, optional
        The cost that the bar beside a line measures: a key of `COLUMNS`, or the name of
        a counter. By default the first column that counted anything.

    Returns
    -------
    Listing
        The lines of the file that cost most, with a column for each kind of count
        that occurs, as text and as HTML in a notebook.

    Raises
    ------
    ArgumentError
        If the counters have no lines, or there is no such count.

    Examples
    --------
    ``ck.show_profile(ck.count(kernel, grid, block, args))``
    """
    by_file = _by_file(counters) if hasattr(counters, "by_line") else {}
    if not by_file:
        raise ArgumentError.explained(
            f"show_profile got {type(counters).__name__} without lines.",
            "Counters of single lines, or of a profiler, have none.",
            "Pass what ck.count(kernel, grid, block, args) returns.",
        )
    columns = {
        title: fields
        for title, fields in COLUMNS.items()
        if any(getattr(counters, name, 0) for name in _kept(counters, fields))
    }
    bar_fields = _bar_fields(heat, columns)
    file = max(by_file, key=lambda name: sum(_sums(by_file[name], bar_fields).values()))
    rows = _rows(counters, by_file[file], file, columns, bar_fields)
    lines = list(by_file[file])
    first, last = min(lines), max(lines)
    caption = (
        f"{file}, lines {first} to {last}: {', '.join(_titles(columns, bar_fields))}"
    )
    part = rows[first - 1 : last]
    return Listing(caption=caption, text="\n".join([caption, *plain(part)]), rows=part)


def _by_file(counters: Counters) -> dict[str, dict[int, Counters]]:
    files: dict[str, dict[int, Counters]] = {}
    for (file, line), counts in counters.by_line().items():
        if file in counters.texts:
            files.setdefault(file, {})[line] = counts
    return files


def _kept(counters: Counters, fields) -> list[str]:
    return [name for name in fields if name not in counters.left_out]


def _bar_fields(heat: str | None, columns: dict) -> tuple[str, ...]:
    """Return the counters that the bar adds up."""
    if heat is None:
        return next(iter(columns.values()), ("warp_instructions",))
    if heat in COLUMNS:
        return COLUMNS[heat]
    if heat in FIELDS:
        return (heat,)
    raise ArgumentError.explained(
        f"show_profile has no heat {heat!r}.",
        "The bar measures a kind of count, or one counter.",
        f"Take one of {', '.join(COLUMNS)}, or a field of the counters.",
    )


def _titles(columns: dict, bar_fields: tuple[str, ...]) -> list[str]:
    named = {fields: title for title, fields in COLUMNS.items()}
    bar = named.get(bar_fields, bar_fields[0].replace("_", " "))
    return [f"a bar for {bar}", *columns]


def _sums(lines: dict[int, Counters], fields) -> dict[int, int]:
    return {
        number: sum(getattr(counts, name) for name in _kept(counts, fields))
        for number, counts in lines.items()
    }


def _rows(counters, lines, file: str, columns: dict, bar_fields) -> tuple[Row, ...]:
    text = counters.texts[file]
    bar_costs = _sums(lines, bar_fields)
    most = max([*bar_costs.values(), 1])
    sums = [_sums(lines, fields) for fields in columns.values()]
    html = highlighted(text, python=file.endswith(".py"))
    rows = []
    for number, (plain_line, html_line) in enumerate(
        zip(text.split("\n"), html, strict=False), start=1
    ):
        amount = bar_costs.get(number, 0)
        cells = [Cell(str(number)), Cell(_bar(amount, most), "keyword")]
        cells += [
            Cell(f"{column[number]:,}" if column.get(number) else "") for column in sums
        ]
        kind = "marked" if amount == most else ""
        rows.append(Row(tuple(cells), plain_line, html_line, kind))
    return tuple(rows)


def _bar(amount: int, most: int) -> str:
    """Return a bar of at most `BAR` blocks; any amount above 0 gives one at least."""
    length = max(round(BAR * amount / most), 1) if amount else 0
    return "\N{BLACK SQUARE}" * length
