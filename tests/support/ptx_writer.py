"""Writes a random PTX kernel line by line: registers, scopes, values, addresses.

Every statement has a number, so that a failing program can be written again without
some of them. Registers whose definition is left out are then zero.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from contextlib import contextmanager

import ptx_addresses
import ptx_forms

# Type of the register and its name; floats may live in registers without a type.
KINDS = {"h": ("b16", "rs"), "i": ("b32", "r"), "l": ("b64", "rd"),
         "f": ("f32", "f"), "d": ("f64", "fd"), "p": ("pred", "p")}  # fmt: skip
UNTYPED = KINDS | {"f": ("b32", "r"), "d": ("b64", "rd")}
STORED_AS = {"e": "h", "x": "i", "q": "p", "s": "i"}
INTEGERS = [0, 1, -1, 2, 3, 5, 7, 8, 15, 16, 31, 32, 33, 63, 100, 255, 256, 1023,
            4096, 32767, -5, -128, -32768]  # fmt: skip
WIDE = [0x7FFFFFFF, -0x80000000, 0x10001, -0x10, 0x40000001, 0x12345678]
FLOATS = [0x00000000, 0x80000000, 0x3F800000, 0xC0200000, 0x3DCCCCCD, 0x7F800000,
          0x7149F2CA, 0x00012345, 0x4B000001, 0xBF000000]  # fmt: skip
DOUBLES = [0, 1 << 63, 0x3FF0000000000000, 0xC004000000000000, 0x3FB999999999999A,
           0x7FEFFFFFFFFFFFFF, 0x0000000000012345]  # fmt: skip
# Bytes of the input array before and behind what a masked index reaches.
SLACK, INPUT_BYTES = 256, 8192
COMMON, RARE, APPROXIMATE = (
    ptx_forms.forms(table)
    for table in (ptx_forms.COMMON, ptx_forms.RARE, ptx_forms.APPROXIMATE)
)
LANE, MASK, WARP, BLOCK = range(4)


class Writer:
    """One kernel in the making; all choices come from its seed.

    Attributes
    ----------
    level : int
        Who is sure to run this code together: LANE nobody, MASK the lanes of the
        member mask `members`, WARP all lanes of the warp that are left, BLOCK all
        threads of the block.
    repeats : float
        How often about the code runs, of which follows what it costs.
    """

    def __init__(self, seed: int):
        self.seed = seed
        self.random = random.Random(seed)
        self.kinds = KINDS if self.chance(0.5) else UNTYPED
        self.features: Counter = Counter()
        self.lines: list[tuple[str, tuple[int, ...]]] = []
        self.owners: tuple[int, ...] = ()
        self.owners_of: dict[str, tuple[int, ...]] = {}
        self.statements = self.labels = self.source_line = 0
        self.used: Counter = Counter()
        self.scope = {kind: [] for kind in KINDS}
        self.uniform = {kind: [] for kind in KINDS}
        self.affine = {kind: [] for kind in KINDS}
        self.variables = {kind: [] for kind in KINDS}
        self.level, self.members, self.repeats, self.cost = BLOCK, "-1", 1.0, 0.0
        self.depth = 0
        self.unread: dict[str, str] = {}
        self.places: list[str] = []
        self.rare = self.random.choice([0.1, 0.3, 0.7])
        self.approximate = self.chance(0.25)

    # -- choices ------------------------------------------------------------------

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def pick(self, *choices):
        return self.random.choice(choices)

    def note(self, *features: str) -> None:
        """The program has these features."""
        self.features.update(features)

    # -- text -----------------------------------------------------------------------

    def emit(self, text: str) -> None:
        """An instruction."""
        self.cost += self.repeats
        self.lines.append((f"\t{text};", self.owners))

    def raw(self, text: str) -> None:
        """A directive or a brace."""
        self.lines.append((f"\t{text}", self.owners))

    def label(self) -> str:
        """A name for a place."""
        self.labels += 1
        return f"$L__BB0_{self.labels}"

    def place(self, label: str) -> None:
        self.lines.append((f"\n{label}:", self.owners))

    @contextmanager
    def statement(self):
        """What is written inside can be left out."""
        before = self.owners
        self.statements += 1
        self.owners = (*before, self.statements)
        if self.chance(0.4):
            self.source_line += self.pick(0, 1, 1, 2)
            self.raw(f".loc\t1 {10 + self.source_line} {self.random.randint(1, 9)}")
        yield
        self.owners = before

    @contextmanager
    def nested(self, level=None, repeats=1.0):
        """Registers made inside are unknown outside; fewer threads may come here.

        What is read nowhere inside changes a variable at the end, so that everything
        has an effect.
        """
        kept = [
            {kind: list(names) for kind, names in one.items()}
            for one in (self.scope, self.uniform, self.affine)
        ]
        before = self.level, self.repeats, self.members
        if level is not None:
            self.level = min(self.level, level)
        self.repeats *= repeats
        self.depth += level is not None
        yield
        self.depth -= level is not None
        self.use_up(kept[0])
        self.scope, self.uniform, self.affine = kept
        self.level, self.repeats, self.members = before

    # -- registers ------------------------------------------------------------------

    def fresh(self, kind: str) -> str:
        """A register that nothing uses yet."""
        prefix = self.kinds[kind][1]
        self.used[prefix] += 1
        name = f"%{prefix}{self.used[prefix]}"
        self.owners_of[name] = self.owners
        return name

    def know(self, kind: str, name: str, *, uniform=False, affine=False) -> str:
        """Later statements may read a register, which is never written again."""
        self.scope[kind].append(name)
        self.unread[name] = kind
        if uniform:
            self.uniform[kind].append(name)
        elif affine:
            self.affine[kind].append(name)
        return name

    def variable(self, kind: str) -> str:
        """A register that statements may read and write from here on."""
        name = self.fresh(kind)
        self.variables[kind].append(name)
        self.scope[kind].append(name)
        return name

    def use_up(self, outer, most: int = 4) -> None:
        """Let variables depend on registers that are about to be forgotten."""
        seen = {name for names in outer.values() for name in names}
        left = [name for name in self.unread if name not in seen]
        for name in left[-most:]:
            USES[self.unread[name]](self, name)
        for name in left:
            del self.unread[name]

    def value(self, letter: str, *, uniform=False, immediate=False) -> str:
        """An operand of a kind."""
        kind = STORED_AS.get(letter, letter)
        if letter == "K":
            return str(self.random.randrange(256))
        if letter == "b":
            return str(self.random.randrange(32))
        if letter == "s" and self.chance(0.7):
            return str(self.random.randrange(self.pick(5, 16, 32, 32, 70)))
        if letter[0] == "[":
            return "{" + ", ".join(self.value(one) for one in letter[1:-1]) + "}"
        if immediate and letter not in "exqps" and self.chance(0.3):
            return self.literal(kind)
        names = (self.uniform if uniform else self.scope)[kind]
        waiting = [one for one in names[-8:] if one in self.unread]
        if waiting and self.chance(0.5):
            names = waiting
        elif kind in "il" and not uniform and self.chance(0.25) and self.affine[kind]:
            names = self.affine[kind]
        name = self.random.choice(names[-5:] if self.chance(0.5) else names)
        self.unread.pop(name, None)
        return "!" + name if letter == "q" and self.chance(0.3) else name

    def literal(self, kind: str) -> str:
        """An immediate."""
        if kind == "f":
            return f"0f{self.random.choice(FLOATS):08X}"
        if kind == "d":
            return f"0d{self.random.choice(DOUBLES):016X}"
        known = INTEGERS if kind == "h" or self.chance(0.7) else WIDE
        return str(self.random.choice(known))

    def guard(self) -> str:
        """A predicate in front of an instruction."""
        return f"@{self.pick('', '!')}{self.value('p')} "

    # -- arithmetic -----------------------------------------------------------------

    def operation(self, name: str, kind: str, *sources: object, **known) -> str:
        """An instruction with a result that later statements may read."""
        target = self.fresh(kind)
        self.emit(f"{name} \t{', '.join([target, *map(str, sources)])}")
        return self.know(kind, target, **known)

    def temporary(self, name: str, kind: str, *sources: object) -> str:
        """An instruction with a result for this statement alone."""
        target = self.fresh(kind)
        self.emit(f"{name} \t{', '.join([target, *map(str, sources)])}")
        return target

    def compute(self, *, uniform=False) -> None:
        """A random lane-wise instruction."""
        table = RARE if self.chance(self.rare) else COMMON
        if self.approximate and not uniform and self.chance(0.15):
            table = APPROXIMATE
            self.note("approximate")
        form = self.random.choice(table)
        if uniform and not self._reads_uniform(form):
            form = self.random.choice(COMMON[:25])
        sources = [
            self.value(letter, uniform=uniform, immediate=k > 0 and form.immediates)
            for k, letter in enumerate(form.sources)
        ]
        if ptx_forms.EXTREMES.match(form.opcode) and len(set(sources)) < len(sources):
            return
        self.note("rare" if table is RARE else "common")
        self.apply(form, sources, uniform)

    def _reads_uniform(self, form) -> bool:
        letters = [c for one in form.sources for c in one.strip("[]")]
        kinds = [STORED_AS.get(letter, letter) for letter in letters]
        return all(self.uniform[kind] for kind in kinds if kind not in "Kb")

    def apply(self, form, sources, uniform=False) -> None:
        """Write an instruction of a form, into new registers or into variables."""
        letters = [c for one in form.results for c in one.strip("[]")]
        kinds = [STORED_AS.get(letter, letter) for letter in letters]
        again = not uniform and self.chance(0.5)
        guard = ""
        if again and self.chance(0.25) and not ptx_forms.UNGUARDED.match(form.opcode):
            guard = self.guard()
            self.note("guarded")
        if again:
            old = [name for name in sources if name in self.variables[kinds[0]]]
            targets = [self.random.choice(self.variables[kind]) for kind in kinds]
            if old and self.chance(0.6):
                targets[0] = old[0]
            again = len(set(targets)) == len(targets)
        if not again:
            guard, targets = "", [self.fresh(kind) for kind in kinds]
        text = ", ".join(targets)
        if form.results[0][0] == "[":
            text = "{" + text + "}"
        elif len(targets) > 1:
            text = "|".join(targets)
        self.emit(f"{guard}{form.opcode} \t{', '.join([text, *sources])}")
        if not again:
            for kind, name in zip(kinds, targets, strict=True):
                self.know(kind, name, uniform=uniform)

    def condition(self, level: int) -> str:
        """A predicate that is the same for all threads of a level."""
        if level == BLOCK:
            name, more = self.value("i", uniform=True), {"uniform": True}
            if self.chance(0.3):
                name = self.temporary("and.b32", "i", name, self.pick(1, 2, 3))
            return self._test(name, **more)
        if level == WARP:
            return self._test(
                self.temporary("and.b32", "i", self.warp, self.pick(1, 2, 3))
            )
        style = self.random.randrange(4)
        if style == 0:
            return self._test(self.temporary("and.b32", "i", self.index(), 1))
        if style == 1:
            return self.temporary(
                f"setp.{self.pick('lt', 'ge')}.{self.pick('u32', 's32')}", "p",
                self.index(), self.pick(5, 16, 17, 32, 40, 64, 100),
            )  # fmt: skip
        if style == 2:
            names = self.value("f"), self.value("f", immediate=True)
            return self.temporary(f"setp.{self.pick('lt', 'geu')}.f32", "p", *names)
        return self.value("p")

    def _test(self, name: str, **known) -> str:
        kind = self.pick("eq", "ne", "gt", "lt")
        against = self.pick(0, 1, 2, 3)
        return self.operation(f"setp.{kind}.s32", "p", name, against, **known)

    # -- addresses --------------------------------------------------------------------

    def index(self) -> str:
        """A 32-bit value to make an index of: mostly affine or uniform ones."""
        turn = self.random.random()
        if turn < 0.6:
            return self.random.choice(self.affine["i"])
        return self.value("i", uniform=turn < 0.8)

    def element(self, base: str, count: int, size: int) -> str:
        """A 64-bit address of one of `count` elements (a power of two) from base."""
        recipe = self.random.choice(ptx_addresses.RECIPES)
        self.note(recipe.__name__)
        return recipe(self, base, count, size)

    def input(self, size: int, room: int = 0) -> str:
        """An operand that reads the input, `room` bytes free behind it."""
        if self.chance(0.25) and size <= 16:
            own = self.temporary("mul.wide.s32", "l", self.thread, size)
            address = self.temporary("add.s64", "l", self.base["in"], own)
            self.note("linear_address")
        else:
            address = self.element(self.base["in"], INPUT_BYTES // size, size)
        if room or self.chance(0.5):
            return f"[{address}]"
        steps = SLACK // size
        return f"[{address}+{size * self.random.randrange(-steps, steps - 16 // size)}]"

    def finish(self, without=frozenset()) -> str:
        """The body of the kernel."""
        body = "\n".join(
            text for text, owners in self.lines if not without.intersection(owners)
        )
        if not without:
            return body
        mentioned = set(re.findall(r"%[a-z]+\d+\b", body))
        zeros = []
        for kind, (_, prefix) in self.kinds.items():
            zero = {"f": "0f00000000", "d": "0d0000000000000000"}.get(kind, "0")
            type_ = {"h": "u16", "i": "u32", "l": "u64", "p": "pred"}.get(kind)
            if self.kinds is UNTYPED and kind in "fd":
                continue
            type_ = type_ or self.kinds[kind][0]
            for name in sorted(mentioned):
                lost = without.intersection(self.owners_of.get(name, ()))
                if lost and re.fullmatch(rf"%{prefix}\d+", name):
                    zeros.append(f"\tmov.{type_} \t{name}, {zero};")
        return "\n".join([*zeros, body])

    def registers(self) -> str:
        """Declarations of all registers."""
        types = {prefix: type_ for type_, prefix in self.kinds.values()}
        return "\n".join(
            f"\t.reg .{type_} \t%{prefix}<{self.used[prefix] + 1}>;"
            for prefix, type_ in types.items()
        )


# -- ways to let a variable depend on a register ---------------------------------------


def _use_integer(w: Writer, name: str, kind: str = "i", bits: int = 32) -> None:
    total = w.random.choice(w.variables[kind])
    if w.chance(0.4):
        w.emit(f"mad.lo.s{bits} \t{total}, {total}, {w.pick(3, 5, 33)}, {name}")
    else:
        name_ = w.pick(f"xor.b{bits}", f"add.s{bits}")
        w.emit(f"{name_} \t{total}, {total}, {name}")


def _use_float(w: Writer, name: str) -> None:
    _use_integer(w, w.temporary("mov.b32", "i", name))


def _use_double(w: Writer, name: str) -> None:
    _use_integer(w, w.temporary("mov.b64", "l", name), "l", 64)


def _use_predicate(w: Writer, name: str) -> None:
    if w.chance(0.5):
        _use_integer(w, w.temporary("selp.b32", "i", w.pick(1, 77), 0, name))
    else:
        total = w.random.choice(w.variables["p"])
        w.emit(f"xor.pred \t{total}, {total}, {name}")


USES = {
    "i": _use_integer,
    "l": lambda w, name: _use_integer(w, name, "l", 64),
    "h": lambda w, name: _use_integer(w, name, "h", 16),
    "f": _use_float,
    "d": _use_double,
    "p": _use_predicate,
}
