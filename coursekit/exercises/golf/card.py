"""The card of a score: for a terminal, and for a notebook."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from html import escape

from coursekit.display.listing import panel
from coursekit.exercises.golf.outcome import MEDALS, Outcome, Tally
from coursekit.exercises.trial import written

_WIDE = 64
_BODY = "font:13px monospace;white-space:pre-wrap"


@dataclass(frozen=True)
class Row:
    """A count on the card: its name, what was counted, and how near to the ideal."""

    name: str
    count: str
    share: str


def times(ratio: Fraction) -> str:
    """Write a multiple of the ideal, rounded up, so that only gold is 1.00.

    >>> times(Fraction(1)), times(Fraction(100_001, 100_000))
    ('1.00 x', '1.01 x')
    """
    hundredths = -((-100 * ratio).__floor__())
    return f"{hundredths // 100}.{hundredths % 100:02} x"


def rows(score: Outcome) -> tuple[Row, ...]:
    """Return the counts of a score, with their shares of the ideal."""
    if score.scored is None:
        return ()
    tally = score.scored
    counted = [
        Row(
            name,
            f"{count:,}",
            _share(tally, name),
        )
        for name, count in tally.counts.items()
    ]
    return (*counted, Row("registers", f"{score.registers:,}", ""))


def _share(tally: Tally, name: str) -> str:
    parts = ["label ptx"] if name in tally.inexact else []
    if name in tally.ideals:
        parts.insert(0, f"{times(tally.ratio(name))} ideal ({tally.ideals[name]:,})")
    return ", ".join(parts)


def headline(score: Outcome) -> str:
    """Return the result of the score in one line."""
    state = f"{score.medal} medal" if score.medal else "right, no medal yet"
    return f"Count Golf, {score.hole.name}: {state if score.passed else 'refused'}"


def summary(score: Outcome) -> str:
    """Return all counts and the medal in one line."""
    if not score.passed:
        return f"{headline(score)} ({score.stage or 'the compiler'})"
    counts = [
        f"{row.name} {row.count}" + (f" = {row.share}" if row.share else "")
        for row in rows(score)
    ]
    return f"{headline(score)}; correct, race-free; {', '.join(counts)}"


def costly(score: Outcome) -> str:
    """Return a sentence that names the most expensive line."""
    line = score.costliest
    if line is None:
        return ""
    total = score.scored.counts[line.metric]
    return (
        f"costs most: line {line.number}, {line.cost:,} of {total:,} {line.metric}: "
        f"{shortened(line.text)}"
    )


def shortened(code: str) -> str:
    """Return a line of code, cut where it is too long for the card."""
    return code if len(code) <= _WIDE else f"{code[: _WIDE - 4]} ..."


def advice(score: Outcome) -> str:
    """Return what to look at, and the medal to which that leads."""
    words = score.advice
    return f"Next, {score.next_medal}: {words}" if score.next_medal and words else words


def message(score: Outcome) -> str:
    """Return the class and the text of the error, and the stage that raised it."""
    error = score.error
    if error is None:
        return ""
    name = type(error).__name__
    text = str(error) if name == "CheckFailed" else f"{name}: {error}"
    return "\n".join([text, *getattr(error, "__notes__", ())])


def text(score: Outcome) -> str:
    """Return the whole card as plain text, for a terminal."""
    lines = [headline(score)]
    counted = rows(score)
    if counted:
        width = max(len(row.count) for row in counted)
        size = written(score.scored.size)
        lines += [f"  correct, race-free; counted at size {size}"]
        lines += [
            f"  {row.name:<11}{row.count:>{width}}  {row.share}".rstrip()
            for row in counted
        ]
    rest = [costly(score), advice(score), message(score)]
    lines += [f"  {line}" for part in rest for line in part.split("\n") if line]
    return "\n".join(lines)


def html(score: Outcome) -> str:
    """Return the card as HTML, kept small because the notebook stores it."""
    title, *lines = text(score).split("\n")
    kept = [line[2:] for line in lines if line.strip() != advice(score)]
    body = escape("\n".join(kept), quote=False)
    return panel(f'<b>{escape(title)}</b><div style="{_BODY}">{body}</div>')


def terms(hole) -> str:
    """Return the rules of a hole, and the derivation of its ideals."""
    shared = f"at least {hole.least_blocks} blocks and {hole.least_threads} threads"
    medals = ", ".join(f"{name} {float(most):g} x" for name, most in MEDALS.items())
    lines = [
        f"Hole {hole.name} (chapter {hole.chapter}): {hole.title}.",
        f"Counted at {written(hole.scored)} ({', '.join(hole.axes)}), by {shared}.",
        *(
            f"Ideal {name}, {hole.ideals(hole.scored)[name]:,}: {par.formula}."
            for name, par in hole.pars.items()
        ),
        f"Medals, by the worst of them: {medals} the ideal.",
    ]
    return "\n".join(lines)
