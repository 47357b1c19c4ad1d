"""Every lane-wise instruction gives the same bits compiled as interpreted."""

import ctypes
import itertools
import random
import re
from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import pytest
from lanes import SHAPES, atom, floats, instruction

from coursekit.errors import UnsupportedError
from coursekit.simt.compiled import casts, lanewise, machine, processor
from coursekit.simt.compiled.builder import Builder
from coursekit.simt.compiled.tracing import Lanes
from coursekit.simt.isa import lookup, table
from coursekit.simt.isa.syntax import _choices

LANES = 32
VALUES = 8 * LANES  # of every source of a form
FORMS = 10  # of each row, besides one for every word of the row
pytestmark = pytest.mark.skipif(
    not (processor.has("f16c") and processor.has("fma")),
    reason="this processor lacks F16C or FMA: the interpreter does what needs them",
)


# -- forms ----------------------------------------------------------------------------


def words_of(syntax):
    """The opcode, and for every place in a syntax line what may stand there."""
    opcode = re.match(r"\w+", syntax)[0]
    places = []
    for group in re.finditer(r"\{((?:\.\w+)+)\}|\.(\w+)", syntax[len(opcode) :]):
        words = (group[1] or "." + group[2]).split(".")[1:]
        choices = itertools.product(*(_choices(word).split("|") for word in words))
        texts = ["".join(f".{word}" for word in choice) for choice in choices]
        places.append([""] * bool(group[1]) + texts)
    return opcode, places


def forms_of(row, seed=1):
    """A sample of a row's forms in which every word is used."""
    opcode, places = words_of(row.syntax)
    rng = random.Random(seed)
    longest = max(map(len, places), default=1)
    shuffled = [rng.sample(place, len(place)) for place in places]
    names = [
        opcode + "".join(place[i % len(place)] for place in shuffled)
        for i in range(longest)
    ]
    names += [opcode + "".join(map(rng.choice, places)) for _ in range(FORMS)]
    return list(dict.fromkeys(names))


def looked_up(row, name):
    """Instruction and operation of a form; None where the table refuses it."""
    results, sources = len(row.results.split()), len(row.sources.split())
    try:
        if row in table.ATOMICS:
            found = atom(name, sources - 1)
            return found, lookup.atomic(found)
        found = instruction(name, sources, pair=results == 2)
        return found, lookup.operation(found)
    except UnsupportedError:
        return None


# -- values ---------------------------------------------------------------------------


def values(kind, rng, count):
    """Bits of a type: edges, numbers of every size, and anything."""
    if kind == "pred":
        return [rng.getrandbits(1) for _ in range(count)]
    if kind.endswith("x2"):
        low, high = (values(kind[:-2], rng, count) for _ in range(2))
        return [x | y << 16 for x, y in zip(low, high, strict=True)]
    width = 8 * lookup.DTYPES[kind].itemsize
    if kind in SHAPES:
        edges = floats(kind, 60, seed=rng.randrange(1 << 30))
        pick = [lambda: near_integer(kind, width, rng)] * 2
    else:
        edges = [e & ((1 << width) - 1) for k in range(width)
                 for e in (1 << k, (1 << k) - 1, -(1 << k), k)]  # fmt: skip
        pick = [lambda: rng.getrandbits(rng.randint(1, width))]
    pick += [lambda: rng.choice(edges)] * 2 + [lambda: rng.getrandbits(width)]
    return [rng.choice(pick)() for _ in range(count)]


def near_integer(kind, width, rng):
    """Bits of a float at or near a half or whole number, of any size."""
    number = rng.randint(-(1 << 12), 1 << 12) / 2 * 2.0 ** rng.randint(-12, 60)
    number += rng.choice([0, 0, rng.uniform(-1, 1)])
    dtype = np.dtype("f4") if kind == "bf16" else lookup.DTYPES[kind]
    with np.errstate(over="ignore"):
        raw = np.array(number).astype(dtype).tobytes()
    return int.from_bytes(raw, "little") >> (16 if kind == "bf16" else 0)


def columns_of(operation, seed, constants):
    """Random values for every source; some equal in two sources, or opposite."""
    rng = random.Random(seed)
    kinds = (*operation.sources, *["pred"] * operation.reads_carry)
    columns = [values(kind, rng, VALUES) for kind in kinds]
    for kind, column in zip(kinds[1:], columns[1:], strict=True):
        if "pred" not in (kind, kinds[0]) and (
            lookup.DTYPES[kind].itemsize == lookup.DTYPES[kinds[0]].itemsize
        ):
            top = 1 << (8 * lookup.DTYPES[kind].itemsize - 1)
            for i in rng.sample(range(VALUES), VALUES // 6):
                column[i] = columns[0][i] ^ rng.choice([0, top])
    if operation.divisor is not None:
        columns[operation.divisor] = [v or 1 for v in columns[operation.divisor]]
    for number, value in constants.items():
        columns[number] = [value] * VALUES
    return [packed(c, kind) for c, kind in zip(columns, kinds, strict=True)]


def packed(column, kind):
    dtype = lookup.DTYPES[kind]
    if kind == "pred":
        return np.array(column, np.bool_)
    return np.array(column, f"u{dtype.itemsize}").view(dtype)


# -- compiled code --------------------------------------------------------------------


class Code:
    """Functions in one module, each an instruction between loads and stores."""

    def __init__(self):
        self.declarations, self.texts, self.engine = {}, [], None

    def add(self, found, operation, width, constants=None, canonical=True):
        """Append a function, some of its sources constants; returns its name."""
        builder = Builder(self.declarations)
        sources = (*operation.sources, *["pred"] * operation.reads_carry)
        results = (*operation.results, *["pred"] * operation.writes_carry)
        constants = constants or {}
        operands = [
            self.constant(constants[number], kind, width)
            if number in constants
            else self.load(builder, number, kind, width)
            for number, kind in enumerate(sources)
        ]
        names = lanewise.emit(builder, found, operation, operands, width, canonical)
        for number, (kind, name) in enumerate(zip(results, names, strict=True)):
            self.store(builder, number, kind, width, name)
        function = f"f{len(self.texts)}"
        head = f"define void @{function}(ptr %in, ptr %out, i64 %lane) {{"
        self.texts.append("\n".join([head, *builder.lines, "  ret void", "}"]))
        return function

    def types(self, kind, width):
        one = f"i{8 * lookup.DTYPES[kind].itemsize}"
        flag = "i1" if kind == "pred" else one
        return one, *(t if width == 1 else f"<{width} x {t}>" for t in (one, flag))

    def constant(self, value, kind, width):
        one = "i1" if kind == "pred" else f"i{8 * lookup.DTYPES[kind].itemsize}"
        text = str(bool(value)).lower() if kind == "pred" else value
        return f"{text}" if width == 1 else f"splat ({one} {text})"

    def place(self, builder, array, number, one, width):
        at = builder.op(f"getelementptr ptr, ptr {array}, i32 {number}")
        at = builder.op(f"load ptr, ptr {at}")
        return (
            builder.op(f"getelementptr {one}, ptr {at}, i64 %lane")
            if (width == 1)
            else at
        )

    def load(self, builder, number, kind, width):
        one, stored, type_ = self.types(kind, width)
        at = self.place(builder, "%in", number, one, width)
        name = builder.op(f"load {stored}, ptr {at}, align 1")
        if stored == type_:
            return name
        return builder.op(f"trunc {stored} {name} to {type_}")

    def store(self, builder, number, kind, width, name):
        one, stored, type_ = self.types(kind, width)
        if stored != type_:
            name = builder.op(f"zext {type_} {name} to {stored}")
        at = self.place(builder, "%out", number, one, width)
        builder.line(f"store {stored} {name}, ptr {at}, align 1")

    def load_module(self):
        text = "\n".join([*self.declarations, *self.texts])
        _, self.engine = machine.load_object(machine.compile_text(text), "f0")

    def run(self, name, operation, columns, width):
        """The results of a function, all lanes of 32 rows at a time."""
        kind = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 2, ctypes.c_int64)
        function = kind(self.engine.get_function_address(name))
        results = (*operation.results, *["pred"] * operation.writes_carry)
        out = [np.zeros(len(columns[0]), lookup.DTYPES[kind]) for kind in results]
        for start in range(0, len(columns[0]), LANES):
            sources, targets = (
                (ctypes.c_void_p * len(arrays))(
                    *(a.ctypes.data + start * a.itemsize for a in arrays)
                )
                for arrays in (columns, out)
            )
            for lane in range(LANES if width == 1 else 1):
                function(sources, targets, lane)
        return out


def interpreted(operation, columns):
    out = []
    for start in range(0, len(columns[0]), LANES):
        with np.errstate(all="ignore"):
            found = operation.evaluate(
                *(c[start : start + LANES].copy() for c in columns)
            )
        out.append(found if isinstance(found, tuple) else (found,))
    return [np.concatenate(parts) for parts in zip(*out, strict=True)]


def unlike(got, want, kind, canonical=True):
    """Where bits differ; all NaNs of f64, and on request of others, are alike."""
    real = "f4" if kind == "bf16" else lookup.DTYPES[kind]
    one, other = (as_floats(x, kind) for x in (got, want))
    bits = f"u{got.itemsize}" if got.dtype != np.bool_ else np.bool_
    differ = got.view(bits) != want.view(bits)
    if np.dtype(real).kind == "f" and (kind == "f64" or not canonical):
        differ &= ~(np.isnan(one) & np.isnan(other))
    return np.flatnonzero(differ)


def as_floats(x, kind):
    return (x.astype(np.uint32) << 16).view(np.float32) if kind == "bf16" else x


@dataclass(frozen=True)
class Job:
    """One function of a module, and what it should do."""

    function: str
    name: str
    operation: lookup.Operation
    width: int
    constants: dict
    canonical: bool = True


def mismatches(code, jobs, seed=5):
    """Lines that tell which forms differ, and for which values."""
    if jobs:
        code.load_module()
    found = []
    for job in jobs:
        operation = job.operation
        columns = columns_of(operation, f"{job.name} {seed}", job.constants)
        got = code.run(job.function, operation, columns, job.width)
        kinds = (*operation.results, *["pred"] * operation.writes_carry)
        for a, b, kind in zip(got, interpreted(operation, columns), kinds, strict=True):
            for i in unlike(a, b, kind, job.canonical)[:1]:
                sources = " ".join(repr(c[i]) for c in columns)
                found.append(f"{job}: {sources} -> {a[i]!r}, not {b[i]!r}")
    return found


def job_of(code, name, sources, width, constants=None, *, pair=False, canonical=True):
    """Append the function of an instruction."""
    found = instruction(name, sources, pair=pair)
    operation = lookup.operation(found)
    function = code.add(found, operation, width, constants, canonical)
    return Job(function, name, operation, width, constants or {}, canonical)


def row_name(row):
    return f"{row.syntax} {row.results.count(' ') + 1}<-{row.sources.count(' ') + 1}"


# -- all rows -------------------------------------------------------------------------


def jobs_of(code, row):
    """Functions for a sample of a row's forms, and the forms left out."""
    jobs, left = [], []
    constants = {3: 0xCA} if row.opcode == "lop3" else {}
    for name in forms_of(row):
        found = looked_up(row, name)
        for width in (1, LANES) if found else ():
            try:
                function = code.add(*found, width, constants)
            except UnsupportedError:
                left.append(name)
            else:
                jobs.append(Job(function, name, found[1], width, constants))
    return jobs, left


@pytest.mark.parametrize("row", (*table.ROWS, *table.ATOMICS), ids=row_name)
def test_compiled_instructions_give_the_bits_of_the_interpreter(row):
    code = Code()
    jobs, left = jobs_of(code, row)
    assert jobs
    assert not [name for name in left if not re.match("set|cvt", name)]
    assert mismatches(code, jobs) == []


def how(row, name):
    """How a form is compiled: by hand, traced, or not at all."""
    found = looked_up(row, name)
    sources = [f"%{i}" for i in range(len(row.sources.split()) + row.reads_carry)]
    sources[3:4] = ["202"] if row.opcode == "lop3" else sources[3:4]
    try:
        lanewise.emit(Builder(), *found, sources, 1)
    except UnsupportedError:
        return "left"
    return "by hand" if lanewise.plan_of(*found).hand else "traced"


def test_only_forms_that_no_gpu_has_are_left_to_the_interpreter(capsys):
    ways = defaultdict(list)
    for row in (*table.ROWS, *table.ATOMICS):
        for name in forms_of(row):
            if looked_up(row, name):
                ways[how(row, name)].append((row.syntax, name))
    with capsys.disabled():
        for way, found in ways.items():
            rows = sorted({syntax for syntax, _ in found})
            print(f"\n{len(found)} forms {way}, of {len(rows)} rows: {rows}")
    left = [name for _, name in ways["left"]]
    assert all(re.match(r"set\..*x2|cvt.*(satfinite|\.r[nzmp]i)", n) for n in left), (
        left
    )


# -- constants, and NaNs that may be anything -----------------------------------------

SHIFTED = [("shl.b32", 2), ("shr.s32", 2), ("shr.u64", 2), ("shl.b16", 2),
           ("shr.s16", 2), ("shf.l.wrap.b32", 3), ("shf.r.clamp.b32", 3)]  # fmt: skip


@pytest.mark.parametrize(("name", "sources"), SHIFTED)
@pytest.mark.parametrize("width", [1, LANES])
def test_shifts_by_constants_are_right(name, sources, width):
    code = Code()
    amounts = (0, 1, 5, 15, 16, 31, 32, 33, 63, 64, 255, 0xFFFFFFFF)
    jobs = [job_of(code, name, sources, width, {sources - 1: n}) for n in amounts]
    assert mismatches(code, jobs) == []


@pytest.mark.parametrize("name", ["bfe.u32", "bfe.s32", "bfe.u64", "bfe.s64"])
@pytest.mark.parametrize("width", [1, LANES])
def test_constant_fields_are_cut_out(name, width):
    code = Code()
    fields = itertools.product(
        (0, 3, 31, 32, 40, 63, 64, 260), (0, 1, 8, 31, 32, 64, 255)
    )
    jobs = [job_of(code, name, 3, width, {1: p, 2: n}) for p, n in fields]
    assert mismatches(code, jobs) == []


@pytest.mark.parametrize("name", ["bfi.b32", "bfi.b64"])
@pytest.mark.parametrize("width", [1, LANES])
def test_constant_fields_are_inserted(name, width):
    code = Code()
    fields = itertools.product(
        (0, 3, 31, 32, 40, 63, 64, 260), (0, 1, 8, 31, 32, 64, 255)
    )
    jobs = [job_of(code, name, 4, width, {2: p, 3: n}) for p, n in fields]
    assert mismatches(code, jobs) == []


@pytest.mark.parametrize("width", [1, LANES])
def test_every_truth_table_of_lop3_is_right(width):
    code = Code()
    jobs = [job_of(code, "lop3.b32", 4, width, {3: n}) for n in range(256)]
    assert mismatches(code, jobs) == []


@pytest.mark.parametrize("mode", ["", *(f".{m}" for m in _choices("PRMT").split("|"))])
@pytest.mark.parametrize("width", [1, LANES])
def test_bytes_are_permuted_by_constant_selectors(mode, width):
    code, rng = Code(), random.Random(8)
    selectors = [0x5410, 0x7632, 0x3210, 0, 0xFFFF, 0x89AB, 0x4440, 0x0123]
    selectors += [rng.getrandbits(32) for _ in range(32)]
    jobs = [job_of(code, f"prmt.b32{mode}", 3, width, {2: s}) for s in selectors]
    assert mismatches(code, jobs) == []


@pytest.mark.parametrize("name", ["div.s32", "rem.s32", "div.u32", "rem.u32", "div.s64",
                                  "rem.u64", "div.s16", "rem.u16"])  # fmt: skip
@pytest.mark.parametrize("width", [1, LANES])
def test_quotients_by_constants_are_right(name, width):
    code, ones = Code(), (1 << int(name[5:])) - 1
    jobs = [job_of(code, name, 2, width, {1: n}) for n in (1, 2, 3, 7, 10, 4096, ones)]
    assert mismatches(code, jobs) == []


@pytest.mark.parametrize("width", [1, LANES])
def test_a_divisor_of_zero_does_not_stop_the_program(width):
    code = Code()
    names = [
        f"{op}.{kind}" for op in ("div", "rem") for kind in _choices("INT").split("|")
    ]
    jobs = [job_of(code, name, 2, width) for name in names]
    code.load_module()
    for job in jobs:
        ones = [
            np.full(LANES, -1).astype(lookup.DTYPES[k]) for k in job.operation.sources
        ]
        ones[1][:] = 0
        (found,) = code.run(job.function, job.operation, ones, width)
        assert found.shape == (LANES,)


RAW = {"add.f32": 2, "mul.ftz.f32": 2, "fma.rn.f32": 3, "add.f16": 2, "min.f32": 2,
       "div.rn.f32": 2, "fma.rn.f16": 3, "sqrt.rn.f32": 1}  # fmt: skip


@pytest.mark.parametrize(("name", "sources"), RAW.items())
@pytest.mark.parametrize("width", [1, LANES])
def test_values_that_are_numbers_do_not_need_canonical_nans(name, sources, width):
    code = Code()
    jobs = [job_of(code, name, sources, width, canonical=False)]
    assert mismatches(code, jobs) == []


CONSTANTS = {"f16": 0x3E00, "f32": 0x3FC00000, "f64": 0x3FF8 << 48, "bf16": 0x3FC0,
             "f16x2": 0xBE003E00, "bf16x2": 0xBFC03FC0}  # fmt: skip


@pytest.mark.parametrize("kind", CONSTANTS)
@pytest.mark.parametrize("width", [1, LANES])
def test_floats_may_be_constants(kind, width):
    code = Code()
    jobs = [
        job_of(code, name, sources, width, {place: CONSTANTS[kind]})
        for name, sources in [(f"mul.{kind}", 2), (f"fma.rn.{kind}", 3)]
        for place in range(sources)
    ]
    assert mismatches(code, jobs) == []


def test_a_nan_may_be_a_constant():
    code = Code()
    jobs = [
        job_of(code, "add.f32", 2, LANES, {1: nan})
        for nan in (0x7FFFFFFF, 0x7FC00000, 0xFFC00001, 0x7F800001)
    ]
    assert mismatches(code, jobs) == []


def test_long_instructions_are_functions_that_calls_share():
    code = Code()
    for _ in range(2):
        job_of(code, "sin.approx.f32", 1, LANES)
    assert sum("define" in text and "sin" in text for text in code.declarations) == 1
    assert all(text.count("call") == 1 for text in code.texts)


@pytest.mark.parametrize("name", ["add.s32", "and.b32", "shl.b32", "setp.lt.s32"])
def test_frequent_instructions_are_one_line(name):
    builder, found = Builder(), instruction(name, 2)
    constants = ["%a", "splat (i32 4)"]
    lanewise.emit(builder, found, lookup.operation(found), constants, LANES)
    assert len(builder.lines) == 1


def test_halves_without_processor_support_are_left_to_the_interpreter(monkeypatch):
    monkeypatch.setattr(processor, "has", lambda feature: False)
    with pytest.raises(UnsupportedError):
        casts.half(Lanes(Builder(), 1, np.float32, "%a"))
