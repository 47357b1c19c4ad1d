"""Smaller cases: sizes by bisection, arrays by delta debugging."""

from __future__ import annotations

import numpy as np

from coursekit.lessons.minimise.trials import Trials

CLOSE = 8  # this many sizes from the least are tried one by one


def length(value: int | np.ndarray) -> int:
    """Return a size, or the length of an array."""
    return value if isinstance(value, int) else len(value)


def smaller(trials: Trials, name: str, least: int) -> None:
    """Shrink one size or array of a failing case as far as it goes."""
    if isinstance(trials.case[name], int):
        _smaller_size(trials, name, least)
    else:
        _fewer_elements(trials, name, least)
        _plainer_elements(trials, name)


def _smaller_size(trials: Trials, name: str, least: int) -> None:
    """Bisect a size; then try every size near the least, in case some there pass."""
    if trials.case[name] <= least or trials.accept(**{name: least}):
        return
    passes = least
    while trials.case[name] - passes > 1:
        middle = (passes + trials.case[name]) // 2
        if not trials.accept(**{name: middle}):
            passes = middle
    for value in range(least + 1, min(trials.case[name], least + CLOSE)):
        if trials.accept(**{name: value}):
            return


def _fewer_elements(trials: Trials, name: str, least: int) -> None:
    """Leave out halves, then quarters, down to single elements."""
    piece = length(trials.case[name])
    while piece > 1:
        piece = -(-piece // 2)
        _without_pieces(trials, name, piece, least)
    while _without_pieces(trials, name, 1, least):
        pass


def _without_pieces(trials: Trials, name: str, piece: int, least: int) -> bool:
    """Try to leave out each piece of this length, one after the other."""
    removed, first = False, 0
    while first < length(trials.case[name]):
        array = trials.case[name]
        rest = np.delete(array, slice(first, first + piece))
        if len(rest) >= least and trials.accept(**{name: rest}):
            removed = True
        else:
            first += piece
    return removed


def _plainer_elements(trials: Trials, name: str) -> None:
    """Replace each element by 0, else by 1, where the case still fails."""
    for place in range(length(trials.case[name])):
        for plain in (0, 1):
            array = trials.case[name].copy()
            if array[place] == plain:
                break
            array[place] = plain
            if trials.accept(**{name: array}):
                break
