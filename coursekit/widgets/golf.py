"""The card of Count Golf: a score, and a panel to edit the kernel and play again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import traitlets

from coursekit.errors import CourseError
from coursekit.exercises.golf import board, card, holes, shape
from coursekit.exercises.golf.play import play, source_of
from coursekit.exercises.golf.score import Score
from coursekit.exercises.golf.submission import Submission
from coursekit.exercises.trial import written
from coursekit.toolchain.cuda_source import tokens
from coursekit.widgets.base import CourseWidget


def golf(hole: str, kernel: Any = None, *, launch: str | None = None) -> GolfCard:
    """Play a hole of Count Golf: solve a problem with the fewest counts.

    The kernel is run at several sizes, some of them drawn from the hash of its source,
    and asked by the four checkers; then its launch at the size of the hole is counted
    and compared with the ideal. All of it is simulated, on any machine.

    Parameters
    ----------
    hole : str
        "transpose", ...; a wrong name lists them.
    kernel : Kernel, Module, str or Path, optional
        The kernel to play with: something compiled, source text, or a .cu file. By
        default the hole's own starter, which is right and slow.
    launch : str, optional
        ``"grid = ceil(n / 256); block = 256"``, where the source has no line
        ``// golf: ...`` that says so; else the launch of the starter.

    Returns
    -------
    GolfCard
        A widget; stored, it is the table of counts. `card.score` has all there is to
        know, and `card.submit(name)` puts it on a board.

    Raises
    ------
    ArgumentError
        There is no such hole, or the second argument has no source.
    LaunchError
        The launch cannot be read. What is wrong with the kernel is shown, not raised.

    Examples
    --------
    ``ck.golf("transpose")`` shows the hole, ``ck.golf("transpose", kernel)`` plays it.
    """
    problem = holes.find(hole)
    source = problem.source if kernel is None else source_of(kernel)
    if launch is not None:
        source = shape.with_launch(source, launch)
    return GolfCard(play(problem, source))


class GolfCard(CourseWidget, files="golf"):
    """The score of a kernel, with a panel to edit and replay it.

    Attributes
    ----------
    score, best : Score
        The score of the last text, and the best of this card; a tie keeps the earlier
        one.
    text : str
        The first text of the panel.
    asked, answered : dict
        The text that the reader wants played, with its turn; which turn is done.
    """

    terms = traitlets.Unicode().tag(sync=True)
    shown = traitlets.Dict().tag(sync=True)
    text = traitlets.Unicode().tag(sync=True)
    leader = traitlets.Unicode().tag(sync=True)
    asked = traitlets.Dict().tag(sync=True)
    answered = traitlets.Dict().tag(sync=True)

    def __init__(self, score: Score) -> None:
        self.score = self.best = score
        super().__init__(
            terms=card.terms(score.hole),
            shown=shown_of(score, score),
            text=score.source,
            leader=score.source,
        )

    @traitlets.observe("asked")
    def _play(self, _change: object) -> None:
        """Play the source that the reader submitted."""
        trouble = ""
        try:
            # An added line end marks the text as source, even if it looks like a path.
            source = source_of(f"{self.asked.get('text', '')}\n\n")
        except CourseError as error:
            trouble = str(error)
        else:
            self.score = play(self.score.hole, source)
            self.best = _better(self.best, self.score)
            with self.hold_sync():
                self.shown = shown_of(self.score, self.best)
                self.leader = self.best.source
        self.answered = {"turn": self.asked.get("turn"), "trouble": trouble}

    def submit(self, name: str, folder: str | Path | None = None) -> Path:
        """Write the best score of this card into the folder of a board.

        Parameters
        ----------
        name : str
            The name of the player.
        folder : str or Path, optional
            `work/golf` by default.

        Raises
        ------
        CheckFailed
            The kernel is not right.
        ArgumentError
            The name cannot be shown, or the folder cannot be written.
        """
        return Submission.of(self.best, name).save(Path(folder or board.own_folder()))

    def __repr__(self) -> str:
        return card.summary(self.score)

    def static_html(self) -> str:
        return card.html(self.score)


def _better(best: Score, score: Score) -> Score:
    if not score.passed:
        return best
    return score if not best.passed or score.rank < best.rank else best


def shown_of(score: Score, best: Score) -> dict[str, Any]:
    """Return a score as data for the view."""
    leads = {row.name: row.count for row in card.rows(best)}
    size = "" if score.scored is None else written(score.scored.size)
    return {
        "headline": card.headline(score),
        "size": size,
        "rows": [[r.name, r.count, r.share, leads[r.name]] for r in card.rows(score)],
        "advice": card.advice(score),
        "trouble": card.message(score),
        "metric": score.scored.worst if size else "",
        "costliest": score.costliest.number if score.costliest else 0,
        "lines": _lines(score) if size else [],
    }


def _lines(score: Score) -> list[list]:
    """Return the costs and the highlighted parts of each source line."""
    lines: list[list] = [[score.costs.get(1, 0), []]]
    for kind, part in tokens(score.source.rstrip("\n")):
        for index, piece in enumerate(part.split("\n")):
            if index:
                lines.append([score.costs.get(len(lines) + 1, 0), []])
            if piece:
                lines[-1][1].append([kind, piece])
    return lines
