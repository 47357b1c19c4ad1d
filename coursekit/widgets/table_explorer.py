"""Tables to search: `ck.ecosystem` for names around CUDA, `ck.errata` for errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import traitlets

from coursekit.lessons import companion
from coursekit.widgets.base import CourseWidget


def ecosystem() -> TableExplorer:
    """Show the libraries, languages, tools and services around CUDA, to search.

    Returns
    -------
    TableExplorer
        Each name with what it is, its state on the day of the table, and a source.

    Examples
    --------
    >>> ck.ecosystem()
    TableExplorer('The ecosystem', 58 rows)
    """
    day, groups = companion.ecosystem()
    return TableExplorer(
        "The ecosystem",
        f"Versions are those on PyPI on {day}.",
        ("Name", "What it is", f"State, {day}", "Source"),
        {
            group: [(row.name, row.what, row.state, row.source) for row in rows]
            for group, rows in groups.items()
        },
    )


def errata() -> TableExplorer:
    """Show errors that CUDA material often has, and what is true, to search.

    Returns
    -------
    TableExplorer
        Each error with its number, the correction, and the evidence.

    Examples
    --------
    >>> ck.errata()
    TableExplorer('Errata', 97 rows)
    """
    return TableExplorer(
        "Errata",
        "Evidence is a source, or how it was found.",
        ("Number", "One reads", "True is", "Evidence"),
        {
            group: [(row.number, row.says, row.true, row.evidence) for row in rows]
            for group, rows in companion.errata().items()
        },
    )


class TableExplorer(CourseWidget, files="table_explorer"):
    """A table with a field for words to search, and a choice of groups.

    Attributes
    ----------
    title, note : str
        What the table is about, and a sentence beneath.
    columns : list of str
        The heads of its columns; cells of the last are addresses or plain words.
    groups : dict
        Rows by group, each a list of texts.
    """

    title = traitlets.Unicode().tag(sync=True)
    note = traitlets.Unicode().tag(sync=True)
    columns: traitlets.List = traitlets.List().tag(sync=True)
    groups = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        title: str,
        note: str,
        columns: Sequence[str],
        groups: Mapping[str, Sequence[Sequence[str]]],
    ) -> None:
        rows = {name: [list(row) for row in of] for name, of in groups.items()}
        super().__init__(title=title, note=note, columns=list(columns), groups=rows)

    def static_html(self) -> str:
        """Return the whole table, a part for each group."""
        head = "".join(f'<th scope="col">{escape(name)}</th>' for name in self.columns)
        parts = [
            f'<tr><th colspan="{len(self.columns)}" scope="rowgroup">{escape(group)}'
            f"</th></tr>{''.join(map(_row, rows))}"
            for group, rows in self.groups.items()
        ]
        return (
            f"<table><caption>{escape(self.title)}. {escape(self.note)}</caption>"
            f"<thead><tr>{head}</tr></thead><tbody>{''.join(parts)}</tbody></table>"
        )

    def __repr__(self) -> str:
        return (
            f"TableExplorer({self.title!r}, {sum(map(len, self.groups.values()))} rows)"
        )


def _row(texts: Sequence[str]) -> str:
    cells = "".join(f"<td>{_linked(text)}</td>" for text in texts)
    return f"<tr>{cells}</tr>"


def _linked(text: str) -> str:
    if not text.startswith("https://"):
        return escape(text)
    host = text.removeprefix("https://").split("/")[0]
    return f'<a href="{escape(text)}">{escape(host)}</a>'
