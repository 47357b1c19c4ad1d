"""Rows of the instruction table, and how their syntax matches PTX modifiers.

A syntax line is written as in the PTX manual, `add{.RND}{.ftz}{.sat}.REAL`: braces
hold what may be left out, and a word in capitals stands for any word of its list
in WORDS (a 2 after it tells a second one apart, INT and INT2).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

# fmt: off
DTYPES = {name: np.dtype(code) for name, code in {
    "pred": "?", "b8": "u1", "u8": "u1", "s8": "i1",
    "b16": "u2", "u16": "u2", "s16": "i2", "b32": "u4", "u32": "u4", "s32": "i4",
    "b64": "u8", "u64": "u8", "s64": "i8", "f16": "f2", "f32": "f4", "f64": "f8",
    "bf16": "u2", "f16x2": "u4", "bf16x2": "u4", "tf32": "u4",
}.items()}

WIDE = {"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}

WORDS = {
    "INT": "u16 s16 u32 s32 u64 s64",
    "CAST": "u8 s8 u16 s16 u32 s32 u64 s64",
    "SIGNED": "s16 s32 s64",
    "WIDENS": "u16 s16 u32 s32",
    "W32": "u32 s32",
    "W64": "u32 s32 u64 s64",
    "BITS": "b16 b32 b64",
    "ANYBITS": "pred b16 b32 b64",
    "BITS2": "b32 b64",
    "ANY": "b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64",
    "MOVED": "pred b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 "
             "f16 f32 f64 bf16 f16x2 bf16x2",
    "PACKED": "u16x2 s16x2",
    "REAL": "f32 f64 f16 f16x2",
    "F": "f32 f64",
    "TO": "u16 s16 u32 s32 f16 f32 bf16 f16x2 bf16x2",
    "FROM": "f16 bf16 f32 f64 f16x2 bf16x2",
    "HALF": "f16 f16x2",
    "BRAIN": "bf16 bf16x2",
    "SMALL": "f16 bf16",
    "FLOAT": "f16 bf16 f32 f64",
    "FP8": "e4m3x2 e5m2x2",
    "RND": "rn rz rm rp",
    "IRND": "rni rzi rmi rpi",
    "CMP": "eq ne lt le gt ge lo ls hi hs",
    "FCMP": "eq ne lt le gt ge equ neu ltu leu gtu geu num nan",
    "EQ": "eq ne",
    "BOOL": "and or xor",
    "PART": "lo hi",
    "EDGE": "clamp wrap",
    "TEST": "finite infinite number notanumber normal subnormal",
    "PRMT": "f4e b4e rc8 ecl ecr rc16",
    "PACK": "u16 s16 u8 s8 u4 s4 u2 s2",
}
# fmt: on


class Form(dict):
    """The words by which one instruction matched a syntax line."""

    @property
    def rounding(self) -> str:
        """The rounding mode: rn unless the instruction names another one."""
        return self.get("RND") or "rn"


def _choices(name: str) -> str:
    words = WORDS.get(name) or WORDS.get(name.removesuffix("2"))
    return "|".join(words.split()) if words else name


def _pattern(syntax: str) -> re.Pattern:
    """Turn the modifiers of a syntax line into a regular expression."""
    start = min((syntax + ".").index("."), (syntax + "{").index("{"))

    def group(match: re.Match) -> str:
        word = match[1]
        return rf"\.(?P<{word}>{_choices(word)})"

    text = re.sub(r"\.(\w+)", group, syntax[start:])
    return re.compile(text.replace("{", "(?:").replace("}", ")?") + r"\Z")


@dataclass(frozen=True)
class Row:
    """One line of the table: every instruction that its syntax line matches.

    Attributes
    ----------
    syntax : str
        Opcode and modifiers.
    results, sources : str
        Types in operand order; a capital word is the one matched in the syntax line,
        and a `+` after it the type of twice its width.
    build : callable
        Takes the `Form`, returns the function of the NumPy engine.
    flops : int
        Floating-point operations of a lane; doubled for the x2 types.
    """

    syntax: str
    results: str
    sources: str
    build: Callable[[Form], Callable]
    flops: int = 0
    flop_type: str | None = None
    expands: bool = False
    reads_carry: bool = False
    writes_carry: bool = False
    divisor: int | None = None

    @property
    def opcode(self) -> str:
        """The opcode: the word before the first dot."""
        return re.match(r"\w+", self.syntax)[0]

    @cached_property
    def _counts(self) -> tuple[int, int]:
        return len(self.results.split()), len(self.sources.split())

    @cached_property
    def _regex(self) -> re.Pattern:
        return _pattern(self.syntax)

    def match(self, modifiers: str, results: int, sources: int) -> Form | None:
        """Return the form, or None where words or operand counts do not fit.

        Parameters
        ----------
        modifiers : str
            Modifiers with their dots, as in ".rn.f32".
        results, sources : int
            Number of operands written and read.
        """
        if self._counts != (results, sources):
            return None
        found = self._regex.match(modifiers)
        if not found:
            return None
        return Form({k: v for k, v in found.groupdict().items() if v is not None})

    def types(self, words: str, form: Form) -> tuple[str, ...]:
        """Return the types of `results` or `sources` for one form."""
        return tuple(
            WIDE[form[word[:-1]]] if word[-1] == "+" else form.get(word, word)
            for word in words.split()
        )
