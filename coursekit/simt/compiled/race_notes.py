"""Checks and records accesses in shadow words, patterned ones at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coursekit.simt.compiled import race_helpers as helpers
from coursekit.simt.compiled.builder import Builder
from coursekit.simt.compiled.race_helpers import READ_BEFORE, STARTS
from coursekit.simt.compiled.race_places import GAP, pieces, places
from coursekit.simt.compiled.stamps import Words
from coursekit.simt.compiled.tier import OWN, vector
from coursekit.simt.interpreter.access import READS, UPDATES, WRITES
from coursekit.simt.isa import traits
from coursekit.simt.isa.traits import COPY

WATCHED = ("shared", "global")
# Most pieces of a pattern that are noted in line, and in a function of their own.
IN_LINE, OUTLINED = 8, 32


def verb_of(request) -> str:
    """Return what an access does; block-scope atomics conflict with other blocks."""
    instruction, verb = request.instruction, request.access.verb
    if traits.of(instruction).memory == COPY:
        return READS if request.loads else STARTS
    narrow = "cta" in instruction.modifiers and request.space == "global"
    return WRITES if verb == UPDATES and narrow else verb


class Notes:
    """The checks and records of `Races`."""

    if TYPE_CHECKING:  # of `WarpCode`, before which it stands

        def done(self) -> None: ...

    # -- lane by lane ------------------------------------------------------------------

    def note_lanes(self, request, addresses: str, mask: str) -> None:
        """Check and record an access lane by lane."""
        if request.space not in WATCHED:
            return
        out, grain = self.out, self.grains[request.space]
        access = request.space, verb_of(request)
        if access not in self.by_lane:
            name = helpers.declare_lanes(out, self.form, *access, grain)
            self.by_lane[access] = name
        wide, size = vector("i64"), 4 * request.width // grain
        out.line(f"store {wide} {addresses}, ptr %touched, align 64, {OWN}")
        self.require(
            out.op(
                f"call i1 @{self.by_lane[access]}(ptr %ctx, ptr %record, ptr %touched, "
                f"i32 {mask}, i64 {size})"
            )
        )

    # -- patterns ----------------------------------------------------------------------

    def note_pattern(self, request, bases, mask: str | None = None) -> None:
        """Check and record a patterned access of all lanes, or of a mask's."""
        if request.space not in WATCHED:
            return
        grain = self.grains[request.space]
        groups = [places(request, g, grain) for g in range(len(bases))]
        most = max(len(pieces(owners)) for _, owners in groups)
        again = any(None in owners.values() for _, owners in groups)
        if most > OUTLINED or (mask is not None and (again or most > 1)):
            self.note_lanes(request, self.lane_addresses(request), mask or "-1")
        elif again and not request.loads:  # lanes of one store race
            self.require("false")
        else:
            for base, (low, owners) in zip(bases, groups, strict=True):
                first = self.out.op(f"add i64 {base}, {low}")
                if most > IN_LINE:
                    self._outline(request, first, owners)
                else:
                    self._note_group(request, first, owners, mask)

    def _outline(self, request, first: str, owners: dict) -> None:
        """Put the check of places into a function that equal accesses share."""
        outer = self.out
        key = request.space, verb_of(request), (*owners.items(),)
        name = self.outlined.get(key)
        if name is None:
            name = self.outlined[key] = f"race_pattern{len(self.outlined)}"
            self.out = Builder(outer.declarations)
            self._note_group(request, "%first", owners, None)
            head = (
                f"define internal i32 @{name}(ptr %ctx, ptr %record, i64 %first) "
                "noinline {\nstart:"
            )
            outer.declare("\n".join([head, *self.out.lines, "  ret i32 0\n}"]))
            self.out = outer
        call = f"call i32 @{name}(ptr %ctx, ptr %record, i64 {first})"
        self.require(outer.op(f"icmp eq i32 {outer.op(call)}, 0"))

    def _note_group(self, request, first: str, owners: dict, mask) -> None:
        """Check and record places of which the first has this address."""
        out, space, verb = self.out, request.space, verb_of(request)
        lanes = None if mask is None else self.lanes_bits(mask)
        row = helpers.row_of(out, space, first)
        after = self._skip_unwatched(row, verb) if space == "global" else None
        place = helpers.shifted(out, first, self.grains[space])
        kinds = (*helpers.looked_at(self.form, verb), verb)
        starts = {kind: helpers.start_of(out, row, kind, place) for kind in kinds}
        words: dict[int, Words] = {}
        for begin, some in pieces(owners):
            if len(some) not in words:
                words[len(some)] = Words(out, self.form, space, len(some))
            self._note_piece(verb, words[len(some)], (starts, begin, some), lanes)
        if after is not None:
            out.line(f"br label %{after}")
            out.label(after)

    def _skip_unwatched(self, row: str, verb: str) -> str | None:
        """Skip reads of an array that is only read; they leave a mark."""
        out = self.out
        if verb != READS:
            out.declare(helpers.WATCHED)
            self.require(out.op(f"call i1 @race_watched(ptr %ctx, ptr {row})"))
            return None
        odd = out.op(f"trunc i64 {out.op(f'load i64, ptr {row}, {OWN}')} to i1")
        mark, watched, after = (out.fresh(n) for n in ("mark", "watched", "after"))
        out.line(f"br i1 {odd}, label %{mark}, label %{watched}")
        out.label(mark)
        out.line(f"store i64 {READ_BEFORE}, ptr {row}, {OWN}")
        out.line(f"br label %{after}")
        out.label(watched)
        return after

    def _note_piece(self, verb: str, words: Words, piece: tuple, lanes) -> None:
        """Check and record adjacent places, each with one owner or several."""
        starts, first, owners = piece
        mine, own = words.by(owners)
        flags = self._present(owners, lanes)
        old = {kind: words.load(start, first) for kind, start in starts.items()}
        for kind in helpers.looked_at(self.form, verb):
            self._require_all(words.known(old[kind], own), flags, len(owners))
        new = mine if verb == WRITES else words.added(old[verb], mine, own)
        if flags is not None:
            new = words.choose(flags, new, old[verb])
        words.store(starts[verb], first, new)

    def _present(self, owners: list, lanes: str | None) -> str | None:
        """Return flags of the places that a lane accesses; None where all are."""
        gaps = ", ".join(f"i1 {str(owner != GAP).lower()}" for owner in owners)
        if lanes is None:
            return f"<{gaps}>" if GAP in owners else None
        picks = ", ".join(f"i32 {max(owner, 0)}" for owner in owners)
        flags = self.out.op(
            f"shufflevector {vector('i1')} {lanes}, {vector('i1')} poison, "
            f"<{len(owners)} x i32> <{picks}>"
        )
        return self.out.op(f"and <{len(owners)} x i1> {flags}, <{gaps}>")

    def _require_all(self, known: str, flags: str | None, length: int) -> None:
        """Leave compiled code unless the flags of all active lanes are set."""
        out, kind = self.out, f"<{length} x i1>"
        if flags is not None:
            absent = out.op(f"xor {kind} {flags}, splat (i1 true)")
            known = out.op(f"or {kind} {known}, {absent}")
        self.require(self._all_set(known, length))

    def _all_set(self, flags: str, length: int) -> str:
        """Return whether all flags are set."""
        bits = self.out.op(f"bitcast <{length} x i1> {flags} to i{length}")
        return self.out.op(f"icmp eq i{length} {bits}, -1")
