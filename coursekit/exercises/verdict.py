"""The result of a check, shown as a card."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from coursekit.display.listing import panel
from coursekit.errors import CourseError
from coursekit.exercises.any_exercise import label
from coursekit.exercises.tables import Table


@dataclass(frozen=True, repr=False)
class Verdict:
    """The result of `ck.check`; true when every stage passed.

    Attributes
    ----------
    id, title : str
        Id and title of the exercise.
    stages : tuple of str
        All of them, in order.
    passed_stages : int
        The number of stages that passed.
    error : CourseError or None
        The error of the first stage that did not pass.
    tables : tuple of Table
        The small problem, element by element, or what else the check has drawn.
    notes : tuple of str
        Advice on what to do next.
    drawn : str
        The content of the tables, in a few words.
    remarks : tuple of str
        What a right answer should rather not do; only where every stage passed.
    """

    id: str
    title: str
    stages: tuple[str, ...]
    passed_stages: int
    error: CourseError | None = None
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()
    drawn: str = "The small problem"
    remarks: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.passed

    @property
    def passed(self) -> bool:
        return self.error is None

    @property
    def headline(self) -> str:
        """The result of the check in one line."""
        state = "solved" if self.passed else "not there yet"
        return f"{label(self.id)}, {self.title}: {state}"

    @property
    def message(self) -> str:
        """The class and text of the error, and where it was seen; or the remarks."""
        if self.error is None:
            return "\n".join(f"The result is right. But {one}" for one in self.remarks)
        name = type(self.error).__name__
        text = str(self.error) if name == "CheckFailed" else f"{name}: {self.error}"
        return "\n".join([text, *getattr(self.error, "__notes__", ())])

    def _marked(self) -> list[tuple[str, str]]:
        """The stages, each with the word that says how it ended."""
        words = ["passed"] * self.passed_stages
        words += [] if self.passed else ["stopped"]
        words += ["to come"] * (len(self.stages) - len(words))
        return list(zip(words, self.stages, strict=True))

    def __repr__(self) -> str:
        stages = [f"  {word:<7}  {stage}" for word, stage in self._marked()]
        message = [f"  {line}" for line in self.message.split("\n") if line]
        notes = [f"  {note}" for note in self.notes]
        parts = [self.headline, *stages]
        for block in (message, notes):
            parts += ["", *block] if block else []
        return "\n".join(parts)

    def _repr_html_(self) -> str:
        stages = "".join(
            f"<li><b>{word}</b>: {escape(stage)}</li>" for word, stage in self._marked()
        )
        notes = "".join(
            f'<div style="margin-top:4px">{escape(note)}</div>' for note in self.notes
        )
        return panel(
            f"<b>{escape(self.headline)}</b>"
            f'<ol style="margin:4px 0 4px 20px;padding:0">{stages}</ol>'
            f"{self._tables_html()}{self._message_html()}{notes}"
        )

    def _tables_html(self) -> str:
        """The tables of the check as HTML; folded unless they are the error itself."""
        tables = "".join(table.html for table in self.tables)
        if not tables or self._shows_the_error():
            return tables
        summary = f'<summary style="cursor:pointer">{escape(self.drawn)}</summary>'
        return f"<details>{summary}{tables}</details>"

    def _shows_the_error(self) -> bool:
        return any(table.text.split("\n")[0] in self.message for table in self.tables)

    def _message_html(self) -> str:
        text = self.message
        for table in self.tables:  # shown as tables above
            block = "\n  ".join(["", table.caption, *table.text.split("\n")])
            text = text.replace(block, "")
        if not text:
            return ""
        # JupyterLab breaks lines of a <pre> inside of words.
        style = "font-family:monospace;font-size:13px;white-space:pre-wrap"
        style += ";word-break:normal;overflow-wrap:anywhere"
        colours = "color:#1f2328;background-color:transparent;border:0;padding:0"
        return (
            f'<pre class="ck-plain" style="{style};{colours};margin:4px 0">'
            f"{escape(text)}</pre>"
        )
