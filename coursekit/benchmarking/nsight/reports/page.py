"""A report as HTML: sections that open, each metric explained, costs by line.

The tables have no colours of their own, so every theme can show them, and sections
open without a running kernel.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from coursekit.benchmarking.nsight.reports.findings import Findings, shown
from coursekit.display.listing import Cell, Listing, Row, highlighted, plain

_LEFT = 'style="text-align:left"'
_RIGHT = 'style="text-align:right;white-space:nowrap"'
_BAR, _NAMED = 10, 2
_EXPLAINED = ("metric", "value", "what it means", "what to do")
_NEIGHBOURS = "Neighbours of 4 bytes take 4 sectors a request, of 1 byte 1: aim at it."
_BANKS = "Without conflicts, values of 4 bytes take 1 wavefront a request."
_REQUESTS = {
    "global loads": _NEIGHBOURS,
    "global stores": _NEIGHBOURS,
    "global atomics": "Add up in the warp or the block first, then once for all.",
    "shared loads": _BANKS,
    "shared stores": _BANKS,
    "shared atomics": "Lanes that want the same bank queue up: give them copies.",
}


def html(report: Findings) -> str:
    """Return the page of a report."""
    parts = [
        f"<div><b>{escape(report.title)}</b> ({escape(report.note)})</div>",
        f"<div>{escape(report.verdict)}</div>" if report.verdict else "",
        *_sections(report),
        _requests(report),
        _stalls(report),
    ]
    listing = line_costs(report)
    source = listing._repr_html_() if listing else ""
    return "".join(parts) + source


def _sections(report: Findings) -> Iterator[str]:
    for number, (section, values) in enumerate(report.sections()):
        rows = [
            (_label(m.label, m.means), shown(value, m.unit), m.means, m.do)
            for m, value in values
        ]
        yield _details(section.title, _table(_EXPLAINED, rows), number == 0)


def _label(label: str, means: str) -> str:
    return label or means.rstrip(".")


def _requests(report: Findings) -> str:
    rows = []
    for title, requests, moved, conflicts, unit in report.memory():
        each = f"{moved / requests:.3g}" if requests else ""
        clashes = f"{conflicts:,}" if _REQUESTS[title] == _BANKS else ""
        cells = (title, f"{requests:,}", f"{moved:,} {unit}", each, clashes)
        rows.append((*cells, _REQUESTS[title]))
    heads = ("what", "requests", "moved", "a request", "bank conflicts", "what to do")
    if not rows:
        return ""
    return _details("Requests of the warps", _table(heads, rows, numbers=4), True)


def _stalls(report: Findings) -> str:
    stalls = report.stalls()
    if not stalls:
        return ""
    whole = sum(cycles for _, cycles, _, _ in stalls)
    rows = [
        (reason, f"{cycles:.2f}", f"{cycles / whole:.0%}", f"Waits for {means}.", do)
        for reason, cycles, means, do in stalls
    ]
    heads = ("stall", "cycles", "share", "what it means", "what to do")
    table = _table(heads, rows, numbers=2)
    return _details("Cycles between two instructions of a warp", table, True)


def _table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: int = 1
) -> str:
    """Make a table: names first, then columns of numbers, then sentences."""
    sides = [_RIGHT if 1 <= n <= numbers else _LEFT for n in range(len(heads))]
    head = "".join(
        f'<th scope="col" {side}>{escape(text)}</th>'
        for text, side in zip(heads, sides, strict=True)
    )
    body = "".join(
        f'<tr><th scope="row" {_LEFT}>{escape(row[0])}</th>'
        + "".join(
            f"<td {side}>{escape(cell)}</td>"
            for cell, side in zip(row[1:], sides[1:], strict=True)
        )
        + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _details(title: str, content: str, is_open: bool) -> str:
    state = " open" if is_open else ""
    style = "cursor:pointer;padding:5px 0"
    summary = f'<summary style="{style}"><b>{escape(title)}</b></summary>'
    return f"<details{state}>{summary}{content}</details>"


def line_costs(report: Findings) -> Listing | None:
    """Return the kernel's lines with their samples, or else with their instructions."""
    if not report.source or not report.lines:
        return None
    samples = any(row.get("samples") for row in report.lines.values())
    what = "samples" if samples else "instructions"
    amounts = {line: row.get(what, 0) for line, row in report.lines.items()}
    whole, most = max(sum(amounts.values()), 1), max([*amounts.values(), 1])
    rows = []
    texts = report.source.split("\n")
    for number, (text, code) in enumerate(
        zip(texts, highlighted(report.source), strict=True), start=1
    ):
        amount = amounts.get(number, 0)
        cells = (
            Cell(str(number)),
            Cell(_bar(amount, most), "keyword"),
            Cell(f"{amount / whole:.1%}" if amount else ""),
            Cell(_reasons(report.lines.get(number, {}))),
        )
        rows.append(Row(cells, text, code, "marked" if amount == most else ""))
    first = min(amounts)
    part = tuple(rows[first - 1 : max(amounts)])
    told = "and what the warps waited for most" if samples else "of warps"
    caption = f"{report.file}, lines {first} to {first + len(part) - 1}: {what} {told}"
    return Listing(caption=caption, text="\n".join([caption, *plain(part)]), rows=part)


def _bar(amount: int, most: int) -> str:
    length = max(round(_BAR * amount / most), 1) if amount else 0
    return "\N{BLACK SQUARE}" * length


def _reasons(row: dict) -> str:
    """Name the most frequent stall reasons of a line."""
    stalls = {k: n for k, n in row.get("stalls", {}).items() if k != "selected"}
    largest = sorted(stalls, key=lambda reason: -stalls[reason])[:_NAMED]
    return ", ".join(name.replace("_", " ") for name in largest)
