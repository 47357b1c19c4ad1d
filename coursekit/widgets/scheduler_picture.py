"""Be the Scheduler as a static picture: the kernel's lines, and a card per warp."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from coursekit.display.listing import TEXT
from coursekit.widgets import palette
from coursekit.widgets.panel import panel

WIDTH, LINE, TOP = 860, 20, 44
_CARD, _CARD_HIGH, _MOST_LETTERS = 205, 26, 92


def words(game) -> str:
    """Return a description of the picture."""
    stage = game.stage
    warps = len(stage["warps"])
    count = len(game.barriers)
    parts = [
        f"{game.kernel}, one block of {warps} warps, "
        f"{count} barrier{'' if count == 1 else 's'}, "
        f"{int(stage['orders']):,} orders of turns."
    ]
    if stage["error"]:
        parts.append(stage["error"].splitlines()[0])
    parts += [
        f"Warp {number} {', then '.join(_said(event) for event in events)}."
        for number, events in enumerate(stage["warps"])
    ]
    parts += [_verdict(game)] if game.verdict else []
    return " ".join(parts)


def _said(event: dict) -> str:
    return f"{event['verb']} {event['what']} (line {event['line']})"


def _verdict(game) -> str:
    wrong = game.verdict["wrong"]
    order = ", ".join(map(str, game.verdict["played"]))
    return f"Played {order}: {wrong or 'the result is right'}."


def svg(game) -> str:
    """Draw the lines with their barriers, and the turns of each warp."""
    longest = max((len(events) for events in game.stage["warps"]), default=0)
    rows = -(-len(game.stage["warps"]) // 4)
    cards_at = TOP + LINE * len(game.code) + 34
    high = 26 + _CARD_HIGH * min(longest, 6) + 10
    height = cards_at + rows * high + 34
    body = [
        _text(12, 24, f"Be the Scheduler: {game.kernel}", font_weight="bold",
              font_size=15),
        *_code(game),
        _text(12, cards_at - 10, "What each warp does; you decide whose turn it is",
              font_weight="bold"),
    ]  # fmt: skip
    for number, events in enumerate(game.stage["warps"]):
        x, y = 12 + number % 4 * (_CARD + 5), cards_at + number // 4 * high
        body += _card(number, events, x, y)
    end = _verdict(game) if game.verdict else "Which order makes the result wrong?"
    body.append(_text(12, height - 12, end[:130]))
    return panel(WIDTH, height, body)


def _code(game) -> Iterator[str]:
    for row, parts in enumerate(game.code):
        line, y = game.first + row, TOP + row * LINE
        yield _text(36, y + 14, str(line), text_anchor="end", font_size=11,
                    fill=palette.INKS["quiet"].light)  # fmt: skip
        if line in game.barriers:
            yield (
                f'<line x1="44" y1="{y + 1}" x2="{WIDTH - 130}" y2="{y + 1}" '
                f'stroke="{palette.LINES["accent"].light}" stroke-width="3"/>'
                + _text(WIDTH - 124, y + 5, "__syncthreads()", font_size=11)
            )
        spans, room = [], _MOST_LETTERS
        for kind, text in parts:
            text = text[:room]
            room -= len(text)
            shade = TEXT.get(kind, TEXT["plain"]).light
            spans.append(f'<tspan fill="{shade}">{escape(text)}</tspan>')
        yield (f'<text x="48" y="{y + 14}" font-family="monospace" '
               f'style="white-space:pre">{"".join(spans)}</text>')  # fmt: skip


def _card(number: int, events: list[dict], x: float, y: float) -> Iterator[str]:
    yield _text(x + 4, y + 16, f"Warp {number}", font_weight="bold")
    shown = events if len(events) <= 6 else events[:5]
    for row, event in enumerate(shown):
        top = y + 24 + row * _CARD_HIGH
        ground = "block0" if event["verb"] == "reads" else "block1"
        yield (
            f'<rect x="{x}" y="{top}" width="{_CARD}" height="{_CARD_HIGH - 4}" rx="3" '
            f'fill="{palette.GROUNDS[ground].light}" '
            f'stroke="{palette.LINES["line"].light}"/>'
        )
        text = f"{event['line']}: {event['verb']} {event['what']}"
        yield _text(x + 6, top + 15, text[:36], font_size=11)
    if len(events) > 6:
        more = f"... and {len(events) - 5} more"
        yield _text(x + 6, y + 24 + 5 * _CARD_HIGH + 15, more, font_size=11)


def _text(x: float, y: float, text: str, **style: str | float) -> str:
    extra = "".join(f' {k.replace("_", "-")}="{v}"' for k, v in style.items())
    return f'<text x="{x:g}" y="{y:g}"{extra}>{escape(text)}</text>'
