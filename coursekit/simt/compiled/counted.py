"""Counts of compiled accesses: requests, sectors, wavefronts and bank conflicts."""

from __future__ import annotations

from coursekit.simt.compiled.affine import LANES
from coursekit.simt.compiled.requests import Request
from coursekit.simt.compiled.tier import OWN, splat, vector
from coursekit.simt.memory.counters import shared_wavefronts


class Counted:
    """The counting of accesses in `WarpCode`."""

    def counted_width(self, request: Request) -> tuple[int, int]:
        """Return the width counted for a shared access, and its start offset."""
        return self.unit.widths.get(request.key, (request.width, 0))

    def uncounted(self, request: Request) -> bool:
        """Whether an access is not counted."""
        if request.space in ("local", "const", "param"):
            return True
        return request.space == "shared" and not self.counted_width(request)[0]

    def fixed_counts(self, request: Request) -> tuple[int, int, int] | None:
        """Return the counts of all lanes where they do not depend on the base."""
        pattern = request.pattern
        if pattern.divergent:
            return None
        if request.space == "shared":
            width, below = self.counted_width(request)
            if width < 4 and pattern.zeros < 2 and not pattern.uniform:
                return None
            first = min(pattern.offsets)
            places = [
                o - first + request.constant % 4 * (width < 4) for o in pattern.offsets
            ]
            used, lost = shared_wavefronts(
                list(range(LANES)), places, width, load=request.loads
            )
            return 1, used, lost
        if pattern.groups > 1:
            return None
        table = self.sector_table(request)
        return (1, table[0], 0) if len(set(table)) == 1 else None

    def sector_table(self, request: Request, group: int = 0) -> list[int]:
        """Return the sectors of a group of lanes for each alignment of its base."""
        grain, size = min(request.width, 32), LANES // request.pattern.groups
        own = request.pattern.offsets[group * size : (group + 1) * size]
        places = [o + request.constant for o in own]
        shifts = range(-places[0] % grain, 32, grain)
        if request.pattern.zeros >= 5:
            shifts = [0] * len(shifts)
        return [len({(p + shift) >> 5 for p in places}) for shift in shifts]

    def count_pattern(self, request: Request, bases: list[str]) -> None:
        """Count sectors of all lanes of a patterned global access."""
        counts = self.unit.counts[request.key]
        found = [self._sectors(request, base, g) for g, base in enumerate(bases)]
        total = found[0]
        for one in found[1:]:
            total = self.out.op(f"add i64 {total}, {one}")
        if len(bases) > 1:
            total = self._unless_shared(request, bases, total)
        self.count(counts.slots)
        self.count(counts.slots + 1, total)

    def _sectors(self, request, base: str, group: int) -> str:
        table = self.sector_table(request, group)
        if len(set(table)) == 1:
            return str(table[0])
        grain = min(request.width, 32)
        place = self.out.op(f"and i64 {base}, 31")
        if grain > 1:
            place = self.out.op(f"lshr i64 {place}, {grain.bit_length() - 1}")
        name = self._constant_table(table)
        at = self.out.op(f"getelementptr i64, ptr @{name}, i64 {place}")
        return self.out.op(f"load i64, ptr {at}, !invariant.load !8")

    def _unless_shared(self, request, bases, total: str) -> str:
        """Return the groups' sum; count by lanes if they share sectors."""
        out, offsets = self.out, request.pattern.offsets
        size = LANES // len(bases)
        ends = []
        for g, base in enumerate(bases):
            own = [o + request.constant for o in offsets[g * size : (g + 1) * size]]
            low = out.op(f"add i64 {base}, {min(own)}")
            high = out.op(f"add i64 {base}, {max(own) + request.width - 1}")
            ends.append((out.op(f"lshr i64 {low}, 5"), out.op(f"lshr i64 {high}, 5")))
        apart = "true"
        for (_, before), (after, _) in zip(ends, ends[1:], strict=False):
            rises = out.op(f"icmp ult i64 {before}, {after}")
            apart = out.op(f"and i1 {apart}, {rises}")
        here, near, after = out.fresh("here"), out.fresh("near"), out.fresh("after")
        out.line(f"br label %{here}")
        out.label(here)
        out.line(f"br i1 {apart}, label %{after}, label %{near}, !prof !7")
        out.label(near)
        kept = dict(self.known), dict(self.vectors)
        addresses = self.lane_addresses(request)
        self.known, self.vectors = kept
        out.line(f"store {vector('i64')} {addresses}, ptr %lanes, align 64, {OWN}")
        out.declare("declare i32 @ck_sectors(ptr, i32)")
        number = out.op("call i32 @ck_sectors(ptr %lanes, i32 -1)")
        number = out.op(f"zext i32 {number} to i64")
        out.line(f"br label %{after}")
        out.label(after)
        return out.op(f"phi i64 [ {total}, %{here} ], [ {number}, %{near} ]")

    def _constant_table(self, values: list[int]) -> str:
        text = ", ".join(f"i64 {v}" for v in values)
        return self.tables.setdefault(text, f"table{len(self.tables)}")

    def count_lanes_reached(self, request: Request, addresses: str, mask: str) -> None:
        """Count an access of a mask's lanes, at arbitrary addresses."""
        if self.uncounted(request):
            return
        out, counts = self.out, self.unit.counts[request.key]
        width, below = request.width, 0
        if request.space == "shared":
            width, below = self.counted_width(request)
        if below:
            addresses = out.op(
                f"sub {vector('i64')} {addresses}, {splat('i64', below)}"
            )
        out.line(f"store {vector('i64')} {addresses}, ptr %lanes, align 64, {OWN}")
        self.count(counts.slots)
        if request.space != "shared":
            out.declare("declare i32 @ck_sectors(ptr, i32)")
            number = out.op(f"call i32 @ck_sectors(ptr %lanes, i32 {mask})")
            self.count(counts.slots + 1, out.op(f"zext i32 {number} to i64"))
            return
        out.declare("declare i64 @ck_wavefronts(ptr, i32, i32, i32)")
        both = out.op(
            f"call i64 @ck_wavefronts(ptr %lanes, i32 {mask}, i32 {width}, "
            f"i32 {int(request.loads)})"
        )
        self.count(counts.slots + 1, out.op(f"and i64 {both}, 4294967295"))
        self.count(counts.slots + 2, out.op(f"lshr i64 {both}, 32"))

    def count_bypassing(self, request: Request, source, places, mask: str) -> None:
        """Count a copy around L1 as `counters.bypassing_sectors` does."""
        if self.uncounted(request):
            return
        out, wide = self.out, vector("i64")
        line = out.op(f"lshr {wide} {source}, {splat('i64', 7)}")
        line = out.op(f"shl {wide} {line}, {splat('i64', 18)}")
        end = out.op(f"and {wide} {places}, {splat('i64', 0x3FFE0)}")
        key = out.op(f"or {wide} {line}, {end}")
        out.line(f"store {wide} {key}, ptr %lanes, align 64, {OWN}")
        out.declare("declare i32 @ck_sectors(ptr, i32)")
        number = out.op(f"call i32 @ck_sectors(ptr %lanes, i32 {mask})")
        slots = self.unit.counts[request.key].slots
        self.count(slots)
        self.count(slots + 1, out.op(f"zext i32 {number} to i64"))

    def count_copied(self, request: Request, reading, writing) -> None:
        """Count a copy in shared memory as `counters.copy_wavefronts` does.

        `reading` and `writing` are addresses and the mask of their lanes.
        """
        if self.uncounted(request):
            return
        out, used, needed = self.out, "0", "0"
        units = 4 * LANES // request.width
        for first in range(0, LANES, units):
            own = ((1 << units) - 1) << first
            reads, _ = self._busiest(*reading, request.width, own)
            writes, some = self._busiest(*writing, request.width, own)
            more = out.op(f"icmp ugt i32 {reads}, {writes}")
            most = out.op(f"select i1 {more}, i32 {reads}, i32 {writes}")
            used = out.op(f"add i32 {used}, {most}")
            needed = out.op(f"add i32 {needed}, {out.op(f'zext i1 {some} to i32')}")
        slots = self.unit.counts[request.key].slots
        self.count(slots)
        self.count(slots + 1, out.op(f"zext i32 {used} to i64"))
        conflicts = out.op(f"sub i32 {used}, {needed}")
        self.count(slots + 2, out.op(f"zext i32 {conflicts} to i64"))

    def _busiest(self, addresses, mask: str, width: int, own: int) -> tuple[str, str]:
        """Return the most lanes of a group on one bank, and whether any lane is there.

        Each lane uses `width` bytes of the banks.
        """
        out, wide = self.out, vector("i64")
        place = addresses
        if width > 4:  # a bank for each place where such a value may lie
            shift = splat("i64", width.bit_length() - 3)
            place = out.op(f"lshr {wide} {addresses}, {shift}")
            place = out.op(f"and {wide} {place}, {splat('i64', 512 // width - 1)}")
        group = out.op(f"and i32 {mask}, {own}")
        some = out.op(f"icmp ne i32 {group}, 0")
        lanes = out.op(f"select i1 {some}, i32 {group}, i32 {own}")
        out.line(f"store {wide} {place}, ptr %lanes, align 64, {OWN}")
        out.declare("declare i32 @ck_atomic_wavefronts(ptr, i32)")
        most = out.op(f"call i32 @ck_atomic_wavefronts(ptr %lanes, i32 {lanes})")
        return out.op(f"select i1 {some}, i32 {most}, i32 0"), some
