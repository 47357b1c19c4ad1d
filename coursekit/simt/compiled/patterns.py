"""Moves the lanes of a warp between registers and host memory.

Patterned addresses are covered by a few wide loads, or runs of stores; all others are
gathered and scattered by functions of which each module has one copy a width.
"""

from __future__ import annotations

from coursekit.simt.compiled.affine import LANES
from coursekit.simt.compiled.tier import DATA, listed, vector

_WINDOW_BYTES = 64
_MOST_WINDOWS, _MOST_RUNS, _FEW = 10, 8, 4


def load(out, start: str, offsets, size: int, count: int, reach) -> list[str]:
    """Load `count` elements of `size` bytes for each lane, at start + offset.

    Parameters
    ----------
    out : Builder
    start : str
        A host address, i64.
    offsets : sequence of int
        Of the lanes, in bytes.
    reach : tuple of two int
        Bytes from `start` that may be read. Accesses that share it share loads.
    """
    first, past = reach
    first += (offsets[0] - first) % size
    places = [(o - first) // size for o in offsets]
    base = out.op(f"add i64 {start}, {first}") if first else start
    distinct = sorted({p + k for p in places for k in range(count)})
    if len(distinct) <= _FEW:
        pieces = [(d, 1) for d in distinct]
    else:
        pieces = _windows(distinct, (past - first) // size, _WINDOW_BYTES // size)
    if len(pieces) > max(_MOST_WINDOWS, 2 * count):
        return [_gathered(out, base, places, k, size) for k in range(count)]
    loaded = [_load_piece(out, base, begin, length, size) for begin, length in pieces]
    return [
        _pick(out, [p + k for p in places], pieces, loaded, size) for k in range(count)
    ]


def _gathered(out, base, places, k, size) -> str:
    lanes = range(len(places))
    padded = list(places) * (LANES // len(places))
    at = _lane_addresses(out, base, padded, k, size)
    wide = vector(f"i{8 * size}")
    name = f"llvm.masked.gather.v32i{8 * size}.v32p0"
    out.declare(f"declare {wide} @{name}(<32 x ptr>, i32, <32 x i1>, {wide})")
    pointers = out.op(f"inttoptr {vector('i64')} {at} to {vector('ptr')}")
    found = out.op(
        f"call {wide} @{name}(<32 x ptr> {pointers}, i32 {size}, "
        f"<32 x i1> splat (i1 true), {wide} poison)"
    )
    return part(out, found, lanes, size)


def _windows(distinct, span, length) -> list[tuple[int, int]]:
    """Return windows of a fixed length, on a common grid, that cover all places."""
    length = min(length, span)
    starts = {min(place // length * length, span - length) for place in distinct}
    return [(begin, length) for begin in sorted(starts)]


def _load_piece(out, base, begin, length, size) -> str:
    at = out.op(f"add i64 {base}, {begin * size}")
    pointer = out.op(f"inttoptr i64 {at} to ptr")
    type_ = f"<{length} x i{8 * size}>"
    return out.op(f"load {type_}, ptr {pointer}, align {size}, {DATA}")


def _pick(out, places, pieces, loaded, size) -> str:
    """Return the lanes' elements from loaded pieces of equal length."""
    length = pieces[0][1]
    one = f"<{length} x i{8 * size}>"
    owner = [
        next(n for n, (b, ln) in enumerate(pieces) if b <= place < b + ln)
        for place in places
    ]
    used = sorted(set(owner))
    spot = [place - pieces[n][0] for place, n in zip(places, owner, strict=True)]
    result = None
    for left, right in zip(used[0::2], [*used[1::2], None], strict=False):
        second = "poison" if right is None else loaded[right]
        mask = [
            spot[lane] if owner[lane] == left
            else length + spot[lane] if owner[lane] == right else None
            for lane in range(len(places))
        ]  # fmt: skip
        part = out.op(
            f"shufflevector {one} {loaded[left]}, {one} {second}, "
            f"<{len(places)} x i32> {_mask(mask)}"
        )
        result = part if result is None else _merged(out, result, part, mask, size)
    return result


def _merged(out, result, part, mask, size) -> str:
    lanes = len(mask)
    wide = f"<{lanes} x i{8 * size}>"
    chosen = [lane if m is None else lanes + lane for lane, m in enumerate(mask)]
    return out.op(
        f"shufflevector {wide} {result}, {wide} {part}, <{lanes} x i32> {_mask(chosen)}"
    )


def joined(out, names, size: int) -> str:
    """Concatenate the vectors of equal groups of lanes."""
    names, length = list(names), LANES // len(names)
    while len(names) > 1:
        one = f"<{length} x i{8 * size}>"
        mask = _mask(range(2 * length))
        names = [
            out.op(f"shufflevector {one} {a}, {one} {b}, <{2 * length} x i32> {mask}")
            for a, b in zip(names[0::2], names[1::2], strict=True)
        ]
        length *= 2
    return names[0]


def part(out, name: str, lanes, size: int) -> str:
    """Return some lanes of a vector of all lanes."""
    if len(lanes) == LANES:
        return name
    wide = vector(f"i{8 * size}")
    return out.op(
        f"shufflevector {wide} {name}, {wide} poison, "
        f"<{len(lanes)} x i32> {_mask(lanes)}"
    )


def _mask(values) -> str:
    texts = ("i32 poison" if v is None else f"i32 {v}" for v in values)
    return f"<{', '.join(texts)}>"


def _lane_addresses(out, base, places, k, size) -> str:
    wide = vector("i64")
    one = out.op(f"insertelement {wide} poison, i64 {base}, i32 0")
    all_ = out.op(
        f"shufflevector {wide} {one}, {wide} poison, {vector('i32')} zeroinitializer"
    )
    return out.op(
        f"add {wide} {all_}, {listed('i64', [(p + k) * size for p in places])}"
    )


def store(out, start, offsets, size, values) -> None:
    """Store elements of each lane at start + offset; the last of equal ones wins."""
    count, first = len(values), min(offsets)
    owner: dict[int, tuple[int, int]] = {}
    for lane, offset in enumerate(offsets):
        for k in range(count):
            owner[(offset - first) // size + k] = (lane, k)
    runs = _runs(sorted(owner))
    base = out.op(f"add i64 {start}, {first}")
    if len(runs) > _MOST_RUNS:
        places = [(o - first) // size for o in offsets]
        for k, value in enumerate(values):
            _scattered(out, base, places, k, value, size)
        return
    lanes = len(offsets)
    whole = _one_after_another(out, values, lanes, size)
    total = lanes * (1 if count == 1 else 2 if count == 2 else 4)
    one = f"i{8 * size}"
    for begin, length in runs:
        mask = [owner[begin + n] for n in range(length)]
        picks = [lane + lanes * k for lane, k in mask]
        name = whole
        if picks != list(range(total)):
            name = out.op(
                f"shufflevector <{total} x {one}> {whole}, <{total} x {one}> poison, "
                f"<{length} x i32> {_mask(picks)}"
            )
        at = out.op(f"add i64 {base}, {begin * size}")
        pointer = out.op(f"inttoptr i64 {at} to ptr")
        out.line(
            f"store <{length} x {one}> {name}, ptr {pointer}, align {size}, {DATA}"
        )


def _runs(places: list[int]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for place in places:
        if runs and place == runs[-1][0] + runs[-1][1]:
            runs[-1] = (runs[-1][0], runs[-1][1] + 1)
        else:
            runs.append((place, 1))
    return runs


def _scattered(out, base, places, k, value, size) -> None:
    lanes, wide = len(places), f"i{8 * size}"
    padded = list(places) * (LANES // lanes)
    at = _lane_addresses(out, base, padded, k, size)
    active = "splat (i1 true)"
    if lanes < LANES:
        picks = _mask([n % lanes for n in range(LANES)])
        value = out.op(
            f"shufflevector <{lanes} x {wide}> {value}, <{lanes} x {wide}> poison, "
            f"{vector('i32')} {picks}"
        )
        flags = ", ".join(f"i1 {str(n < lanes).lower()}" for n in range(LANES))
        active = f"<{flags}>"
    one = vector(wide)
    name = f"llvm.masked.scatter.v32i{8 * size}.v32p0"
    out.declare(f"declare void @{name}({one}, <32 x ptr>, i32, <32 x i1>)")
    pointers = out.op(f"inttoptr {vector('i64')} {at} to {vector('ptr')}")
    out.line(
        f"call void @{name}({one} {value}, <32 x ptr> {pointers}, i32 {size}, "
        f"<32 x i1> {active})"
    )


def _one_after_another(out, values, length: int, size: int) -> str:
    """Concatenate element vectors."""
    names = list(values)
    while len(names) > 1:
        one = f"<{length} x i{8 * size}>"
        if len(names) % 2:
            names.append("poison")
        mask = ", ".join(f"i32 {n}" for n in range(2 * length))
        names = [
            out.op(f"shufflevector {one} {a}, {one} {b}, <{2 * length} x i32> <{mask}>")
            for a, b in zip(names[0::2], names[1::2], strict=True)
        ]
        length *= 2
    return names[0]


_TEXTS = {
    "gather": """
define internal {wide} @gather{bits}(<32 x i64> %at, i32 %mask) noinline {{
  %lanes = bitcast i32 %mask to <32 x i1>
  %p = inttoptr <32 x i64> %at to <32 x ptr>
  %r = call {wide} @llvm.masked.gather.v32i{bits}.v32p0(<32 x ptr> %p,
    i32 {size}, <32 x i1> %lanes, {wide} zeroinitializer)
  ret {wide} %r
}}""",
    "scatter": """
define internal void @scatter{bits}({wide} %v, <32 x i64> %at, i32 %mask) noinline {{
  %lanes = bitcast i32 %mask to <32 x i1>
  %p = inttoptr <32 x i64> %at to <32 x ptr>
  call void @llvm.masked.scatter.v32i{bits}.v32p0({wide} %v, <32 x ptr> %p,
    i32 {size}, <32 x i1> %lanes)
  ret void
}}""",
}


def gather(out, addresses: str, lanes: str, size: int) -> str:
    """Load an element for each active lane from host addresses."""
    wide = vector(f"i{8 * size}")
    out.declare(
        f"declare {wide} @llvm.masked.gather.v32i{8 * size}.v32p0"
        f"(<32 x ptr>, i32, <32 x i1>, {wide})"
    )
    out.declare(_TEXTS["gather"].format(wide=wide, bits=8 * size, size=size))
    mask = out.op(f"bitcast {vector('i1')} {lanes} to i32")
    return out.op(
        f"call {wide} @gather{8 * size}({vector('i64')} {addresses}, i32 {mask})"
    )


def scatter(out, addresses, lanes, value, size) -> None:
    """Store an element of each active lane, in ascending order of lanes."""
    wide = vector(f"i{8 * size}")
    out.declare(
        f"declare void @llvm.masked.scatter.v32i{8 * size}.v32p0"
        f"({wide}, <32 x ptr>, i32, <32 x i1>)"
    )
    out.declare(_TEXTS["scatter"].format(wide=wide, bits=8 * size, size=size))
    mask = out.op(f"bitcast {vector('i1')} {lanes} to i32")
    out.line(
        f"call void @scatter{8 * size}({wide} {value}, {vector('i64')} {addresses}, "
        f"i32 {mask})"
    )
