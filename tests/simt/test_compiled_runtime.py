"""The helpers of compiled kernels, against the rules that the interpreter uses."""

import ctypes
import functools
import platform
import re
from types import SimpleNamespace

import llvmlite.binding as llvm
import numpy as np
import pytest

from coursekit.simt.compiled import runtime
from coursekit.simt.compiled.runtime import Answer, Context, State, Tier
from coursekit.simt.memory import counters

LANES = np.arange(32)
WHOLE = 0xFFFFFFFF
ROUNDS = 300

I1, I32, I64, PTR = (
    ctypes.c_uint8,
    ctypes.c_int32,
    ctypes.c_int64,
    ctypes.c_void_p,
)
SIGNATURES = {
    "ck_sectors": (I32, PTR, I32),
    "ck_atomic_sectors": (I32, PTR, I32),
    "ck_wavefronts": (I64, PTR, I32, I32, I32),
    "ck_atomic_wavefronts": (I32, PTR, I32),
    "ck_match_any": (I32, PTR, I32, PTR),
    "ck_find": (I1, PTR, PTR, I64, I64, I32),
    "ck_find_shared": (I1, PTR, PTR, I64, I64),
    "ck_resolve": (I1, PTR, PTR, PTR, I32, I32, I32, PTR),
    "ck_resolve_shared": (I1, PTR, PTR, PTR, I32, I32, I32, PTR),
    "ck_run": (I32, PTR, PTR, PTR),
}
# What a processor must have to run code for these targets.
NEEDED = {"host": set(), "x86-64-v2": {"sse4.2"}, "x86-64-v3": {"avx2", "fma", "bmi2"}}


def target_machine(triple: str, cpu: str, features: str = ""):
    """An LLVM target, with code for running in this process."""
    target = llvm.Target.from_triple(triple)
    return target.create_target_machine(cpu=cpu, features=features, opt=2, jit=True)


def compiled(machine) -> bytes:
    """An object file with the helpers for a target."""
    module = llvm.parse_assembly(runtime.text())
    module.verify()
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    passes = llvm.create_pass_builder(machine, options)
    passes.getModulePassManager().run(module, passes)
    return machine.emit_object(module)


@functools.cache
def helpers(cpu: str) -> SimpleNamespace:
    """The helpers, compiled for a kind of processor, as Python callables."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    here = set(llvm.get_host_cpu_features().flatten().split(","))
    if cpu != "host" and platform.machine() not in ("x86_64", "AMD64"):
        pytest.skip("this machine is no x86-64")
    if not {f"+{name}" for name in NEEDED[cpu]} <= here:
        pytest.skip(f"this machine's processor cannot run code for {cpu}")
    triple = llvm.get_process_triple()
    machine = target_machine(triple, cpu)
    if cpu == "host":
        features = llvm.get_host_cpu_features().flatten()
        machine = target_machine(triple, llvm.get_host_cpu_name(), features)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(compiled(machine)))
    engine.finalize_object()
    functions = {
        name: ctypes.CFUNCTYPE(*types)(engine.get_function_address(name))
        for name, types in SIGNATURES.items()
    }
    return SimpleNamespace(engine=engine, **functions)


@pytest.fixture(params=list(NEEDED))
def on_any_cpu(request):
    return helpers(request.param)


@pytest.fixture
def here():
    return helpers("host")


def test_functions_are_those_of_the_text():
    module = llvm.parse_assembly(runtime.text())
    defined = {
        one.name
        for one in module.functions
        if not one.is_declaration and one.name.startswith("ck_")
    }
    assert defined == set(runtime.FUNCTIONS) == set(SIGNATURES)


def test_the_text_names_the_fields_of_the_context():
    uses = re.findall(
        r"call .*@(?:set_)?context\(ptr %ctx, i64 (\d+).*; (\w+)\n", runtime.text()
    )
    assert [name for _, name in uses] == [Context(int(n)).name for n, _ in uses]
    assert len(uses) == runtime.text().count("context(ptr %ctx, i64 ") - 2


def test_helpers_compile_for_arm():
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = target_machine("aarch64-unknown-linux-gnu", "generic")
    assert compiled(machine)[18:20] == b"\xb7\x00"  # EM_AARCH64


# -- counting --------------------------------------------------------------------------


def permuted(rng, values):
    return values[rng.permutation(32)]


# Numbers of elements of `size` bytes that the lanes access, at most `span` of them.
PATTERNS = {
    "consecutive": lambda rng, span: LANES + rng.integers(span),
    "backwards": lambda rng, span: rng.integers(32, span) - LANES,
    "one": lambda rng, span: 0 * LANES + rng.integers(span),
    "strided": lambda rng, span: LANES * rng.integers(1, span // 32) + rng.integers(99),
    "columns": lambda rng, span: LANES % 16 * rng.integers(1, span // 16) + LANES // 16,
    "rows": lambda rng, span: LANES // 8 * rng.integers(1, span // 8) + LANES % 8,
    "repeated": lambda rng, span: LANES // rng.integers(1, 9) + rng.integers(span),
    "swizzled": lambda rng, span: 32 * LANES + (LANES ^ rng.integers(32)),
    "permuted": lambda rng, span: permuted(rng, LANES * rng.integers(1, span // 32)),
    "near": lambda rng, span: rng.integers(0, 64, 32) + rng.integers(span),
    "random": lambda rng, span: rng.integers(0, span, 32),
    "few": lambda rng, span: rng.choice(rng.integers(0, span, rng.integers(1, 6)), 32),
    "pairs": lambda rng, span: np.repeat(rng.integers(0, span, 16), 2),
    "second": lambda rng, span: rng.integers(0, span, 32)[LANES // 4 * 2 + LANES % 2],
    "lines": lambda rng, span: rng.integers(0, span // 32, 32) * 32 + rng.integers(32),
    "clusters": lambda rng, span: rng.integers(0, span, 4)[LANES % 4] + LANES // 16,
}
MASKS = {
    "all": lambda rng: WHOLE,
    "first": lambda rng: (1 << int(rng.integers(1, 32))) - 1,
    "last": lambda rng: WHOLE << int(rng.integers(1, 32)) & WHOLE,
    "one": lambda rng: 1 << int(rng.integers(32)),
    "even": lambda rng: 0x55555555,
    "odd": lambda rng: 0xAAAAAAAA,
    "halves": lambda rng: 0xFF00FF00,
    "random": lambda rng: int(rng.integers(1, 1 << 32)),
    "sparse": lambda rng: int(rng.integers(1 << 32) & rng.integers(1 << 32)) or 1,
}
FAR = {
    "regions": lambda rng: (
        rng.choice([1 << 37, 5 << 37, 1 << 41], 32) + 4 * rng.integers(0, 64, 32)
    ),
    "anywhere": lambda rng: 4 * rng.integers(0, 1 << 60, 32),
    "4 GiB": lambda rng: (1 << 41) + (1 << 32) * rng.integers(0, 2, 32) - 32 * LANES,
    "largest offset": lambda rng: (1 << 41) + np.where(LANES % 3, (1 << 31) - 1, 0),
}


def active(mask: int) -> np.ndarray:
    """The lanes of a mask."""
    return np.flatnonzero(mask >> LANES & 1)


def vector(values, mask: int, rng) -> np.ndarray:
    """Values as helpers take them: aligned, with anything in inactive lanes."""
    array = runtime.aligned(32, np.int64)
    array[:] = rng.integers(-(1 << 63), (1 << 63) - 1, 32)
    array[active(mask)] = np.asarray(values)[active(mask)]
    return array


def random_mask(rng) -> int:
    """A mask of any kind."""
    return MASKS[rng.choice(list(MASKS))](rng)


def compare(pattern, helper, rule) -> None:
    """Assert that a helper and a rule agree on random addresses and masks."""
    rng = np.random.default_rng(7)
    found, expected = [], []
    for _ in range(ROUNDS):
        mask = random_mask(rng)
        addresses = vector(pattern(rng), mask, rng)
        found.append(helper(addresses.ctypes.data, mask))
        expected.append(rule(active(mask), addresses[active(mask)]))
    assert found == expected


def at(pattern, size: int, span: int, base: int = 0):
    """The pattern with elements of `size` bytes among `span` of them."""
    return lambda rng: base + size * PATTERNS[pattern](rng, span)


@pytest.mark.parametrize("size", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_sectors_are_those_of_the_rule(here, pattern, size):
    compare(
        at(pattern, size, 1 << 20, 1 << 12), here.ck_sectors,
        lambda lanes, addresses: counters.sectors(addresses),
    )  # fmt: skip


@pytest.mark.parametrize("size", [2, 4, 8])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_atomic_sectors_are_those_of_the_rule(here, pattern, size):
    compare(
        at(pattern, size, 1 << 10, 1 << 41), here.ck_atomic_sectors,
        lambda lanes, addresses: counters.atomic_sectors(addresses),
    )  # fmt: skip


@pytest.mark.parametrize("name", ["sectors", "atomic_sectors"])
@pytest.mark.parametrize("pattern", FAR)
def test_sectors_far_apart_are_those_of_the_rule(here, pattern, name):
    rule = getattr(counters, name)
    compare(
        FAR[pattern], getattr(here, f"ck_{name}"),
        lambda lanes, addresses: rule(addresses),
    )  # fmt: skip


def wavefronts_of(helper, width: int, load: bool):
    """`ck_wavefronts` of an access, as a pair of numbers."""

    def call(addresses, mask):
        both = helper(addresses, mask, width, load)
        return both & WHOLE, both >> 32

    return call


def wavefront_rule(width: int, load: bool):
    return lambda lanes, addresses: counters.shared_wavefronts(
        lanes.tolist(), addresses.tolist(), width, load=load
    )


@pytest.mark.parametrize("load", [False, True])
@pytest.mark.parametrize("width", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_wavefronts_are_those_of_the_rule(here, pattern, width, load):
    compare(
        at(pattern, width, (1 << 17) // width),
        wavefronts_of(here.ck_wavefronts, width, load), wavefront_rule(width, load),
    )  # fmt: skip


@pytest.mark.parametrize("size", [4, 8])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_atomic_wavefronts_are_those_of_the_rule(here, pattern, size):
    compare(
        at(pattern, size, 1 << 10), here.ck_atomic_wavefronts,
        lambda lanes, addresses: counters.shared_atomic_wavefronts(addresses),
    )  # fmt: skip


def cases(size: int, span: int = 1 << 12, count: int = 1000):
    """Addresses and masks of all kinds."""
    rng = np.random.default_rng(3)
    names = list(PATTERNS)
    return [
        (vector(at(rng.choice(names), size, span)(rng), WHOLE, rng), random_mask(rng))
        for _ in range(count)
    ]


@pytest.mark.parametrize("name", ["sectors", "atomic_sectors", "atomic_wavefronts"])
def test_counts_are_the_same_on_any_cpu(on_any_cpu, here, name):
    mine, other = (
        [getattr(one, f"ck_{name}")(v.ctypes.data, mask) for v, mask in cases(4)]
        for one in (on_any_cpu, here)
    )
    assert mine == other


@pytest.mark.parametrize("width", [4, 8, 16])
def test_wavefronts_are_the_same_on_any_cpu(on_any_cpu, here, width):
    mine, other = (
        [one.ck_wavefronts(v.ctypes.data, mask, width, 1) for v, mask in cases(width)]
        for one in (on_any_cpu, here)
    )
    assert mine == other


@pytest.mark.parametrize("pattern", PATTERNS)
def test_match_names_the_lanes_with_the_same_value(on_any_cpu, pattern):
    found = runtime.aligned(32, np.uint32)

    def match(values, mask):
        agree = on_any_cpu.ck_match_any(values, mask, found.ctypes.data)
        return agree, found.tolist()

    def rule(lanes, values):
        out = [0] * 32
        for lane, value in zip(lanes, values, strict=True):
            out[lane] = sum(1 << int(other) for other in lanes[values == value])
        return int(len(set(values.tolist())) == 1), out

    compare(at(pattern, 1, 1 << 10), match, rule)


# -- regions ---------------------------------------------------------------------------

SAVE = ctypes.CFUNCTYPE(None, I64)
NO_SITE = runtime.new_sites(1).tolist()


class Regions:
    """A context with memory: regions as (address, nbytes, host, flags)."""

    def __init__(self, helper, regions=(), shared=(), shared_base=0):
        self.context, self.helper = runtime.new_context(), helper
        self.table = np.array(list(regions), runtime.REGION)
        self.shared = np.array(list(shared), runtime.SHARED_REGION)
        self.site = runtime.new_sites(1)
        self.saved: list[int] = []
        self.save = SAVE(self.saved.append)
        self.context[Context.REGIONS] = runtime.address_of(self.table)
        self.context[Context.REGION_COUNT] = len(self.table)
        self.context[Context.SHARED_REGIONS] = runtime.address_of(self.shared)
        self.context[Context.SHARED_COUNT] = len(self.shared)
        self.context[Context.SHARED_BASE] = shared_base
        self.context[Context.SAVE] = ctypes.cast(self.save, PTR).value
        self.out = runtime.aligned(32, np.int64)

    def find(self, low, high, write=False):
        where = self.context.ctypes.data, self.site.ctypes.data
        return bool(self.helper.ck_find(*where, low, high, write))

    def find_shared(self, low, high):
        where = self.context.ctypes.data, self.site.ctypes.data
        return bool(self.helper.ck_find_shared(*where, low, high))

    def resolve(self, addresses, *, mask=WHOLE, width=4, write=False, twin=""):
        self.lanes = vector(addresses, mask, np.random.default_rng(1))
        return bool(
            getattr(self.helper, f"ck_resolve{twin}")(
                self.context.ctypes.data, self.site.ctypes.data,
                self.lanes.ctypes.data, mask, width, write, self.out.ctypes.data,
            )
        )  # fmt: skip

    @property
    def noted(self):
        return self.site[["first", "end", "distance"]][0].tolist()


THREE = ((1000, 100, 50000, 0), (2000, 0, 60000, 0), (3000, 8, 70000, 0))


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (1000, 1100, (1000, 1100, 49000)),
        (1000, 1001, (1000, 1100, 49000)),
        (1099, 1100, (1000, 1100, 49000)),
        (3000, 3008, (3000, 3008, 67000)),
        (999, 1000, None),
        (1000, 1101, None),
        (1100, 1104, None),
        (2000, 2001, None),
        (2000, 2000, (2000, 2000, 58000)),
        (3004, 3012, None),
        (0, 4, None),
        (-4, 0, None),
        (-4, 1004, None),
        (1050, 1040, None),
        (3000, 2999, None),
    ],
)
def test_find_notes_the_region_with_all_the_bytes(on_any_cpu, low, high, expected):
    memory = Regions(on_any_cpu, THREE)
    found = memory.find(low, high)
    assert (found, memory.noted if found else None) == (bool(expected), expected)


def test_find_leaves_the_site_alone_where_there_is_nothing(here):
    memory = Regions(here, THREE)
    memory.find(500, 504)
    assert memory.site.tolist() == NO_SITE


def test_nothing_is_found_without_regions(here):
    assert not Regions(here).find(0, 4)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 31, 32, 33, 100])
def test_every_region_is_found(here, count):
    starts = [1000 * k for k in range(1, count + 1)]
    memory = Regions(here, [(a, 10, 7 * a, 0) for a in starts])
    found = [memory.noted[0] if memory.find(a + 6, a + 10) else None for a in starts]
    assert found == starts


def test_addresses_beyond_half_of_all_are_no_less_found(here):
    high = 1 << 63
    memory = Regions(here, [(1000, 8, 0, 0), (high, 8, 0, 0)])
    assert memory.find(high - (1 << 64), high + 8 - (1 << 64))


def test_a_write_to_a_read_only_region_is_refused(here):
    memory = Regions(here, [(1000, 100, 0, runtime.READ_ONLY)])
    assert (memory.find(1000, 1004), memory.find(1000, 1004, True)) == (True, False)


def test_a_refused_write_saves_nothing(here):
    memory = Regions(here, [(1000, 100, 0, runtime.READ_ONLY)])
    memory.find(1000, 1004, True)
    assert (memory.saved, memory.table["flags"][0]) == ([], runtime.READ_ONLY)


def test_a_region_is_saved_before_its_first_write_alone(here):
    memory = Regions(here, THREE)
    for place in (3000, 1000, 3004, 1096):
        memory.find(place, place + 4, True)
    assert (memory.saved, memory.table["flags"].tolist()) == ([2, 0], [2, 0, 2])


def test_a_read_saves_nothing(here):
    memory = Regions(here, THREE)
    memory.find(1000, 1004)
    assert memory.saved == []


def test_find_shared_notes_the_base_of_shared_memory(on_any_cpu):
    memory = Regions(on_any_cpu, shared=[(1024, 256), (4096, 0)], shared_base=9000)
    assert memory.find_shared(1024, 1280)
    assert memory.noted == (1024, 1280, 9000)


@pytest.mark.parametrize(("low", "high"), [(1020, 1024), (1278, 1282), (4096, 4100)])
def test_find_shared_refuses_bytes_outside(here, low, high):
    memory = Regions(here, shared=[(1024, 256), (4096, 0)])
    assert not memory.find_shared(low, high)


def test_resolve_gives_host_addresses_and_notes_the_one_region(on_any_cpu):
    memory = Regions(on_any_cpu, [(1000, 128, 50000, 0)])
    assert memory.resolve(1124 - 4 * LANES)
    assert memory.out.tolist() == (50124 - 4 * LANES).tolist()
    assert memory.noted == (1000, 1128, 49000)


def test_resolve_finds_the_region_of_each_lane(on_any_cpu):
    memory = Regions(on_any_cpu, THREE)
    addresses = np.where(LANES % 3, 1000 + LANES, 3004)
    assert memory.resolve(addresses)
    assert memory.out.tolist() == np.where(LANES % 3, 50000 + LANES, 70004).tolist()
    assert memory.site.tolist() == NO_SITE


@pytest.mark.parametrize("mask", [1 << 31, 0x55555555, 0x0000FFF0])
def test_resolve_looks_at_active_lanes_alone(on_any_cpu, mask):
    memory = Regions(on_any_cpu, THREE)
    assert memory.resolve(1000 + 2 * LANES, mask=mask)
    lanes = active(mask)
    assert memory.out[lanes].tolist() == (50000 + 2 * lanes).tolist()
    assert memory.noted == (1000, 1100, 49000)


@pytest.mark.parametrize("lane", [0, 1, 30, 31])
@pytest.mark.parametrize("wrong", [996, 1098, 2000, 3006, -4, 1 << 62])
def test_resolve_refuses_a_lane_outside(here, lane, wrong):
    memory = Regions(here, THREE)
    assert not memory.resolve(np.where(lane == LANES, wrong, 1000 + LANES))


def test_resolve_refuses_accesses_wider_than_the_region(here):
    assert not Regions(here, [(1000, 8, 0, 0)]).resolve(0 * LANES + 1000, width=16)


def test_resolve_saves_what_it_will_write(here):
    memory = Regions(here, THREE)
    memory.resolve(np.where(LANES % 2, 3000, 1000), write=True)
    assert memory.saved == [0, 2]


def test_resolve_refuses_to_write_read_only_memory(here):
    memory = Regions(here, [THREE[0], (3000, 8, 0, runtime.READ_ONLY)])
    addresses = np.where(LANES == 9, 3000, 1000)
    assert (memory.resolve(addresses), memory.resolve(addresses, write=True)) == (
        True, False,
    )  # fmt: skip


def test_resolve_shared_finds_shared_memory(on_any_cpu):
    memory = Regions(on_any_cpu, THREE, [(0, 64), (2048, 64)], shared_base=9000)
    addresses = np.where(LANES < 16, 4 * LANES, 2048 + LANES)
    assert memory.resolve(addresses, write=True, twin="_shared")
    assert memory.out.tolist() == (9000 + addresses).tolist()


def test_resolve_shared_refuses_a_lane_outside(here):
    memory = Regions(here, THREE, [(0, 64), (2048, 64)], shared_base=9000)
    assert not memory.resolve(4 * LANES, twin="_shared")


# -- the scheduler ---------------------------------------------------------------------

CODE = ctypes.CFUNCTYPE(I32, PTR, PTR)
TICK = ctypes.CFUNCTYPE(I32)
ARRANGE = ctypes.CFUNCTYPE(None)


class Blocks:
    """A launch whose warps do what `script` says.

    `script(warp, turn)` is the answer of a warp's turn in its block; `log` gets
    (tier, position of the block, warp) for every turn.
    """

    def __init__(self, helper, script, *, threads=128, blocks=1, grid=(64, 64, 64)):
        self.helper, self.script = helper, script
        self.warps = -(-threads // 32)
        self.bytes = runtime.RECORD.itemsize + 16
        self.space = runtime.aligned((self.warps, self.bytes), np.uint8)
        self.space[:] = 0xEE
        self.records = self.space[:, : runtime.RECORD.itemsize].view(runtime.RECORD)[
            :, 0
        ]
        lanes = np.minimum(threads - 32 * np.arange(self.warps), 32)
        self.records["exist"] = (1 << lanes.astype(np.int64)) - 1
        self.records["warp"] = np.arange(self.warps)
        self.order = np.arange(self.warps, dtype=np.int32)
        self.blocks = np.arange(blocks) if isinstance(blocks, int) else np.array(blocks)
        self.shared = np.array([(64, 32), (128, 16)], runtime.SHARED_REGION)
        self.shared_bytes = np.zeros(256, np.uint8)
        self.log, self.turns, self.ticks, self.arranged = [], {}, [], 0
        self.context = runtime.new_context()
        self._fill(threads, grid)
        self.fast, self.general = self.code(Tier.FAST), self.code(Tier.GENERAL)

    def _fill(self, threads, grid):
        self.tick = TICK(self.at_tick)
        pointers = {
            Context.SHARED_REGIONS: self.shared, Context.SHARED_BASE: self.shared_bytes,
            Context.RECORDS: self.space, Context.ORDER: self.order,
            Context.BLOCKS: self.blocks,
        }  # fmt: skip
        for place, array in pointers.items():
            self.context[place] = runtime.address_of(array)
        self.context[Context.SHARED_COUNT] = len(self.shared)
        self.context[Context.TICK] = ctypes.cast(self.tick, PTR).value
        self.context[Context.RECORD_BYTES] = self.bytes
        self.context[Context.WARPS : Context.THREADS + 1] = self.warps, threads
        self.context[Context.FIRST : Context.LAST + 1] = 0, len(self.blocks)
        self.context[Context.GRID_X : Context.GRID_Z + 1] = grid

    def arrange(self, function):
        def arrange():
            self.arranged += 1
            function(self.order)

        self._arrange = ARRANGE(arrange)
        self.context[Context.ARRANGE] = ctypes.cast(self._arrange, PTR).value

    def at_tick(self):
        self.ticks.append(int(self.context[Context.POSITION]))
        return 0

    def code(self, tier):
        def turn(context, record):
            warp = (record - runtime.address_of(self.space)) // self.bytes
            position = int(self.context[Context.POSITION])
            number = self.turns.setdefault((position, warp), 0)
            self.turns[position, warp] += 1
            self.log.append((int(tier), position, warp))
            return self.script(warp, number)

        return CODE(turn)

    def run(self, *, fast=True, general=True):
        answer = self.helper.ck_run(
            self.context.ctypes.data,
            ctypes.cast(self.fast, PTR) if fast else None,
            ctypes.cast(self.general, PTR) if general else None,
        )
        return answer

    @property
    def order_of_warps(self):
        return [warp for _, _, warp in self.log]


def answers(*rows):
    """A script: the answers of each warp, in turn."""
    return lambda warp, turn: int(rows[warp][turn])


DONE, WAITS, GENERAL, FAST = (
    Answer.DONE,
    Answer.WAITS,
    Answer.TO_GENERAL,
    Answer.TO_FAST,
)


def all_done(warp, turn):
    return DONE


def test_warps_run_in_order(on_any_cpu):
    blocks = Blocks(on_any_cpu, all_done, blocks=2)
    assert blocks.run() == Answer.DONE
    assert blocks.log == [(Tier.FAST, b, w) for b in range(2) for w in range(4)]


def test_the_order_of_warps_is_that_of_the_table(here):
    blocks = Blocks(here, all_done)
    blocks.order[:] = 2, 0, 3, 1
    blocks.run()
    assert blocks.order_of_warps == [2, 0, 3, 1]


def test_only_the_blocks_asked_for_run(here):
    blocks = Blocks(here, all_done, threads=32, blocks=9)
    blocks.context[Context.FIRST : Context.LAST + 1] = 3, 5
    blocks.run()
    assert [position for _, position, _ in blocks.log] == [3, 4]


def test_a_block_knows_its_indices(here):
    seen = []
    blocks = Blocks(
        here, lambda warp, turn: seen.append(blocks.context[22:26].tolist()) or DONE,
        threads=32, blocks=[0, 1, 3, 14, 29], grid=(3, 5, 2),
    )  # fmt: skip
    blocks.run()
    assert seen == [
        [0, 0, 0, 0], [1, 0, 0, 1], [0, 1, 0, 3], [2, 4, 0, 14], [2, 4, 1, 29],
    ]  # fmt: skip


def test_shared_memory_is_poisoned_for_every_block(here):
    seen = []

    def look(warp, turn):
        seen.append(blocks.shared_bytes.copy())
        blocks.shared_bytes[64:160] = 1
        return DONE

    blocks = Blocks(here, look, threads=32, blocks=2)
    blocks.run()
    expected = np.zeros(256, np.uint8)
    expected[64:96] = expected[128:144] = 0xCB
    np.testing.assert_array_equal(seen[0], expected)
    expected[96:128] = expected[144:160] = 1
    np.testing.assert_array_equal(seen[1], expected)


def test_records_are_fresh_for_every_block(here):
    seen = []

    def look(warp, turn):
        seen.append(blocks.records[warp].tolist())
        blocks.space[warp, :32] = 0x55
        return DONE

    blocks = Blocks(here, look, threads=40, blocks=2)
    blocks.run()
    fresh = [(0, 0, 0, WHOLE, 0, WHOLE, 0, WHOLE, 0), (0, 1, 0, 255, 0, 255, 0, 255, 1)]
    assert seen == 2 * fresh


def test_the_rest_of_a_record_is_left_alone(here):
    blocks = Blocks(here, all_done)
    blocks.run()
    assert (blocks.space[:, runtime.RECORD.itemsize :] == 0xEE).all()


def test_a_warp_with_few_lanes_starts_in_the_general_tier(here):
    blocks = Blocks(here, all_done, threads=70)
    blocks.run()
    assert [tier for tier, _, _ in blocks.log] == [Tier.FAST, Tier.FAST, Tier.GENERAL]


def test_the_longest_warp_is_noted(here):
    def execute(warp, turn):
        blocks.records["executed"][warp] = (5, 70, 6, 7)[warp]
        return DONE

    blocks = Blocks(here, execute)
    blocks.context[Context.MOST_EXECUTED] = 20
    blocks.run()
    assert blocks.context[Context.MOST_EXECUTED] == 70


# Warp 3 is the last at the barrier and goes on at once; the others follow.
def test_the_last_warp_at_a_barrier_goes_on_at_once(on_any_cpu):
    blocks = Blocks(on_any_cpu, lambda warp, turn: WAITS if turn == 0 else DONE)
    assert blocks.run() == Answer.DONE
    assert blocks.order_of_warps == [0, 1, 2, 3, 3, 0, 1, 2]


def test_a_barrier_counts_threads(here):
    blocks = Blocks(here, lambda warp, turn: WAITS if turn == 0 else DONE, threads=33)
    assert blocks.run() == Answer.DONE
    assert blocks.order_of_warps == [0, 1, 1, 0]


# Warp 3 opens the first barrier and comes to the second one first.
def test_barriers_follow_each_other(here):
    blocks = Blocks(here, lambda warp, turn: WAITS if turn < 3 else DONE)
    assert blocks.run() == Answer.DONE
    order = [0, 1, 2, 3, 3, 0, 1, 2, 2, 3, 0, 1, 1, 2, 3, 0]
    assert blocks.order_of_warps == order


def test_a_barrier_opens_without_a_warp_that_has_left(here):
    left, others = [DONE], [WAITS, DONE]
    blocks = Blocks(here, answers(others, left, others, others))
    assert blocks.run() == Answer.DONE
    assert blocks.order_of_warps == [0, 1, 2, 3, 3, 0, 2]
    assert blocks.records["state"].tolist() == [State.DONE] * 4


def test_any_other_answer_ends_the_run(here):
    blocks = Blocks(here, answers([WAITS], [17], [DONE], [DONE]), blocks=3)
    assert (blocks.run(), blocks.order_of_warps) == (17, [0, 1])


def test_a_warp_changes_tiers(here):
    blocks = Blocks(here, answers([GENERAL, FAST, GENERAL, WAITS, DONE]), threads=32)
    assert blocks.run() == Answer.DONE
    assert [tier for tier, _, _ in blocks.log] == [0, 1, 0, 1, 1]


def test_code_may_choose_the_tier_after_a_barrier(here):
    def choose(warp, turn):
        blocks.records["tier"][warp] = Tier.GENERAL
        return WAITS if turn == 0 else DONE

    blocks = Blocks(here, choose, threads=32)
    blocks.run()
    assert [tier for tier, _, _ in blocks.log] == [Tier.FAST, Tier.GENERAL]


def test_without_a_fast_tier_the_general_one_does_all(here):
    blocks = Blocks(here, answers([FAST, WAITS, DONE], [WAITS, DONE]), threads=64)
    assert blocks.run(fast=False) == Answer.DONE
    assert {tier for tier, _, _ in blocks.log} == {Tier.GENERAL}


def test_a_block_that_needs_the_general_tier_does_not_start_without(here):
    blocks = Blocks(here, all_done, threads=40)
    before = blocks.space.copy()
    assert blocks.run(general=False) == Answer.WANTS_GENERAL
    assert (blocks.log, blocks.context[Context.RESUME_AT]) == ([], -1)
    np.testing.assert_array_equal(blocks.space, before)


def test_nothing_runs_without_code(here):
    blocks = Blocks(here, all_done)
    assert blocks.run(fast=False, general=False) == Answer.WANTS_GENERAL


def resume(blocks):
    """Run on as a launch does that has compiled the general tier."""
    blocks.context[Context.FIRST] = blocks.context[Context.POSITION]
    blocks.context[Context.RESUMES] = 1
    return blocks.run()


def test_a_block_that_did_not_start_does_when_resumed(here):
    blocks = Blocks(here, all_done, threads=40)
    blocks.run(general=False)
    assert resume(blocks) == Answer.DONE
    assert blocks.log == [(Tier.FAST, 0, 0), (Tier.GENERAL, 0, 1)]


def test_a_block_goes_on_in_the_middle(here):
    rows = [WAITS, DONE], [WAITS, DONE], [GENERAL, WAITS, DONE], [WAITS, DONE]
    blocks = Blocks(here, answers(*rows), blocks=2)
    blocks.order[:] = 0, 2, 1, 3
    assert blocks.run(general=False) == Answer.WANTS_GENERAL
    blocks.shared_bytes[64] = 5
    stopped = blocks.order_of_warps
    assert resume(blocks) == Answer.DONE
    first = [entry for entry in blocks.log if entry[1] == 0]
    assert stopped == [0, 2]
    assert [warp for _, _, warp in first] == [0, 2, 2, 1, 3, 3, 0, 2, 1]
    assert [tier for tier, _, warp in first if warp == 2] == [0, 1, 1]


def test_a_resumed_block_keeps_its_memory(here):
    blocks = Blocks(here, answers([GENERAL, DONE]), threads=32)
    blocks.run(general=False)
    blocks.shared_bytes[64] = 5
    resume(blocks)
    assert blocks.shared_bytes[64] == 5


def test_the_wish_to_resume_is_forgotten(here):
    blocks = Blocks(here, answers([GENERAL, DONE]), threads=32)
    blocks.run(general=False)
    resume(blocks)
    assert blocks.context[Context.RESUMES] == 0


def test_the_launch_looks_at_the_clock_every_64_blocks(here):
    blocks = Blocks(here, all_done, threads=32, blocks=200)
    blocks.run()
    assert blocks.ticks == [63, 127, 191]


def test_the_launch_can_stop_the_run(here):
    blocks = Blocks(here, all_done, threads=32, blocks=200)
    blocks.at_tick = None
    blocks.tick = TICK(lambda: 5)
    blocks.context[Context.TICK] = ctypes.cast(blocks.tick, PTR).value
    assert (blocks.run(), len(blocks.log)) == (5, 64)


def test_the_order_is_arranged_for_every_round(here):
    blocks = Blocks(here, lambda warp, turn: WAITS if turn == 0 else DONE, blocks=2)

    def turn(order):
        order[:] = order[::-1].copy()

    blocks.arrange(turn)
    blocks.run()
    assert blocks.arranged == 4
    assert blocks.order_of_warps == 2 * [3, 2, 1, 0, 0, 1, 2, 3]


def test_a_resumed_round_is_not_arranged_again(here):
    blocks = Blocks(here, answers([DONE], [GENERAL, DONE]), threads=64)
    blocks.arrange(lambda order: None)
    blocks.run(general=False)
    resume(blocks)
    assert (blocks.arranged, blocks.order_of_warps) == (1, [0, 1, 1])


def scheduled(warps: int, script) -> tuple[list[int], int]:
    """The order of turns of full warps, by the rules, and how a block ends."""
    log, turns, waiting = [], [0] * warps, []
    states = [State.READY] * warps
    while any(state == State.READY for state in states):
        for warp in range(warps):
            while states[warp] == State.READY:
                log.append(warp)
                answer = script(warp, turns[warp])
                turns[warp] += 1
                if answer == DONE:
                    states[warp] = State.DONE
                elif answer == WAITS:
                    states[warp] = State.WAITS
                    waiting.append(warp)
                if len(waiting) == warps - states.count(State.DONE):
                    for other in waiting:
                        states[other] = State.READY
                    waiting.clear()
    return log, Answer.DONE


@pytest.mark.parametrize("seed", range(40))
def test_random_warps_are_scheduled_by_the_rules(on_any_cpu, seed):
    rng = np.random.default_rng(seed)
    warps = int(rng.integers(1, 9))
    barriers = int(rng.integers(0, 5))
    rows = []
    for _ in range(warps):
        row = [WAITS] * (barriers - int(rng.random() < 0.05))
        for place in rng.integers(0, len(row) + 1, 3):
            row.insert(place, GENERAL if rng.random() < 0.5 else FAST)
        rows.append([*row, DONE])
    script = answers(*rows)
    blocks = Blocks(on_any_cpu, script, threads=32 * warps)
    answer = blocks.run()
    assert (blocks.order_of_warps, answer) == scheduled(warps, script)
