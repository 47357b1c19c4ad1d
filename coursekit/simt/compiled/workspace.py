"""The memory of compiled code: records of warps, counters, tables of arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np

from coursekit.simt.compiled import machine, runtime
from coursekit.simt.compiled.runtime import Answer, Context
from coursekit.simt.compiled.unit import (
    EXISTING,
    FUEL,
    FUEL_LEFT,
    RECONVERGENCE,
    TARGET,
    THREADS,
    WARP,
)
from coursekit.simt.memory.memory import POISON, address_of, shared_layout

MOST_BLOCKS = 1 << 20  # whose numbers are written down at a time
FINISHED, WANTS_GENERAL, STOPPED = Answer.DONE, Answer.WANTS_GENERAL, 5
_SAVE = ctypes.CFUNCTYPE(None, ctypes.c_int64)
_TICK = ctypes.CFUNCTYPE(ctypes.c_int32)
_ARRANGE = ctypes.CFUNCTYPE(None)


class Workspace:
    """The memory of compiled code, reused for all launches of one kernel.

    Parameters
    ----------
    compiled : engine.Compiled
    fast : bool
        Whether the fast tier may run.
    """

    def __init__(self, compiled, *, fast: bool = True):
        self.compiled, self.unit = compiled, compiled.unit
        self.fast = compiled.tier("fast") if fast else None
        self.general = None
        self.context = runtime.new_context()
        self.stop: BaseException | None = None  # what a callback raised
        self._own: dict[int, np.ndarray] = {}
        self.threads = int(np.prod(self.unit.shape))
        self.warps = -(-self.threads // 32)
        self._place_warps((self.fast or compiled.tier("general")).notes["record_bytes"])
        self._params = np.zeros(self.unit.parameter_bytes + 8, np.uint8)
        self._set(Context.PARAMS, self._params)
        self._shared_layout = None
        self.counter_values = np.zeros(0, np.int64)
        self.sites: dict[str, np.ndarray] = {}
        if not fast or self.threads % 32:
            self.general = compiled.tier("general")
        self._callbacks = _SAVE(self._save), _TICK(self._tick), _ARRANGE(self._draw)
        self.context[Context.SAVE] = _address(self._callbacks[0])
        self.context[Context.TICK] = _address(self._callbacks[1])

    def _set(self, index: int, array: np.ndarray) -> None:
        """Point a field of the context to an array, which must stay alive."""
        self._own[index] = array
        self.context[index] = address_of(array)

    def _place_warps(self, size: int) -> None:
        """Allocate the records of the warps with their constant fields."""
        records = runtime.aligned((self.warps, size), np.uint8)
        self._set(Context.RECORDS, records)
        lanes = np.arange(32 * self.warps).reshape(self.warps, 32)
        wide, high, _ = self.unit.shape
        existing = lanes < self.threads
        masks = np.packbits(existing, axis=1, bitorder="little").view(np.uint32)[:, 0]
        self._words = words = records.view(np.int32)
        words.view(np.uint32)[:, EXISTING // 4] = masks
        words[:, WARP // 4] = np.arange(self.warps)
        first = THREADS // 4
        words[:, first : first + 32] = lanes % wide
        words[:, first + 32 : first + 64] = lanes // wide % high
        words[:, first + 64 : first + 96] = lanes // (wide * high)
        self.context[Context.RECORD_BYTES] = size
        self.context[Context.WARPS] = self.warps
        self.context[Context.THREADS] = self.threads
        self.order = np.arange(self.warps, dtype=np.int32)
        self._set(Context.ORDER, self.order)
        each = 32 * self.unit.local_stride if self.unit.code.local_bytes else 0
        local = np.full(self.warps * each + 64, POISON, np.uint8)
        self._set(Context.LOCAL_BASE, local)
        self.context[Context.LOCAL_BYTES] = each

    # -- for each launch ---------------------------------------------------------------

    def begin(self, launch) -> None:
        """Prepare a launch."""
        self.launch, self.stop, self.saved = launch, None, {}
        self._words[:, RECONVERGENCE // 4] = -1
        self._words[:, TARGET // 4] = -9
        self._words[:, FUEL_LEFT // 4] = FUEL
        self._place_memory()
        asked = launch.configuration
        self._arrange(asked.order)
        given = np.frombuffer(asked.params, np.uint8)[: self.unit.parameter_bytes]
        self._params[: len(given)] = given
        self._place_counters()
        self.counter_values[:] = 0
        for tier, name in ((self.fast, "fast"), (self.general, "general")):
            if tier is not None:
                self._place_tier(tier, name)
        self.context[Context.GRID_X : Context.GRID_Z + 1] = asked.grid
        self.context[Context.MOST_EXECUTED] = self.context[Context.RESUMES] = 0
        self.context[Context.FUEL] = FUEL
        seeded = asked.order.kind == "seed"
        arrange = _address(self._callbacks[2]) if seeded else 0
        self.context[Context.ARRANGE] = arrange

    def _place_memory(self) -> None:
        launch = self.launch
        self.regions = launch.memory.regions()
        rows = [(r.address, r.nbytes, r.host, int(r.read_only)) for r in self.regions]
        self._set(Context.REGIONS, np.array(rows or [(0, 0, 0, 0)], np.int64))
        self.context[Context.REGION_COUNT] = len(rows)
        if launch.shared_variables == self._shared_layout:
            return
        self._shared_layout = launch.shared_variables
        layout = shared_layout(launch.shared_variables)
        arrays = [(at, size) for _, at, size in layout] or [(0, 0)]
        self._set(Context.SHARED_REGIONS, np.array(arrays, np.int64))
        self.context[Context.SHARED_COUNT] = len(layout)
        span = max([at + size for _, at, size in layout], default=0)
        self._set(Context.SHARED_BASE, np.full(span + 64, POISON, np.uint8))
        self._shared = {name: at for name, at, _ in layout}

    def _arrange(self, order) -> None:
        warps = range(self.warps)
        if order.kind == "reverse":
            self.order[:] = warps[::-1]
        elif order.kind == "list":
            named = [w for w in order.warps if w in warps]
            self.order[:] = named + [w for w in warps if w not in named]
        else:
            self.order[:] = warps

    def _place_counters(self) -> None:
        """Allocate the counters of both tiers; present counts stay."""
        count = max(t.notes["counters"] for t in (self.fast, self.general) if t)
        more = count - len(self.counter_values)
        if more > 0:
            self.counter_values = np.pad(self.counter_values, (0, more))
            self._set(Context.COUNTERS, self.counter_values)

    def _place_tier(self, tier, name: str) -> None:
        sites, symbols = self.compiled.sort.tiers[name].own_fields
        if name not in self.sites:
            self.sites[name] = np.zeros((tier.notes["sites"] + 1, 4), np.int64)
            self._set(sites, self.sites[name])
            self._set(symbols, np.zeros(len(tier.notes["symbols"]) + 1, np.int64))
        self.sites[name][:, :2] = (-1, 0)
        variables = self.launch.program.variables
        for number, symbol in enumerate(tier.notes["symbols"]):
            own = self._shared.get(symbol)
            self._own[symbols][number] = (
                variables[symbol].address if own is None else own
            )

    # -- callbacks ---------------------------------------------------------------------

    def _save(self, index: int) -> None:
        """Save a region before the first write to it."""
        try:
            self.saved[index] = self.regions[index].data.copy()
        except BaseException as error:  # too little memory; raised after the run
            self.stop = error

    def _tick(self) -> int:
        """Let the launch report its progress, and end it if its time is up.

        Nothing may be raised before the `try`, where ctypes would lose it: a launch
        is `interruptible`.
        """
        try:
            self.launch.tick(self.done + int(self.context[Context.POSITION]))
        except BaseException as error:
            self.stop = self.stop or error
        return FINISHED if self.stop is None else STOPPED

    def _draw(self) -> None:
        """Draw the order of the warps for the next round."""
        chosen = list(range(self.warps))
        self.launch.random.shuffle(chosen)
        self.order[:] = chosen

    # -- running -----------------------------------------------------------------------

    def run(self, blocks: Sequence[int]) -> int:
        """Run blocks, linear indices, in this order; return how many are done."""
        self.done = 0
        while self.done < len(blocks):
            part = _numbers(blocks[self.done : self.done + MOST_BLOCKS])
            done = self._run_part(part)
            self.done += done
            if done < len(part):
                break
        return self.done

    def _run_part(self, blocks: np.ndarray) -> int:
        """Run some of the blocks; return how many of these are done."""
        self._set(Context.BLOCKS, blocks)
        self.context[Context.FIRST], self.context[Context.LAST] = 0, len(blocks)
        run = machine.runner()
        while True:
            fast = self.fast.address if self.fast else None
            general = self.general.address if self.general else None
            answer = run(self.context.ctypes.data, fast, general)
            if answer != WANTS_GENERAL:
                break
            self._add_general()
        if self.stop is not None:
            raise self.stop
        if answer == FINISHED:
            return len(blocks)
        return int(self.context[Context.POSITION])

    def _add_general(self) -> None:
        """Compile the general tier in the middle of a block, and continue in it."""
        self.general = self.compiled.tier("general")
        self.launch.start_clock()
        self._place_tier(self.general, "general")
        self._place_counters()
        self.context[Context.FIRST] = self.context[Context.POSITION]
        self.context[Context.RESUMES] = 1

    def end(self) -> None:
        """Release everything that belongs to the launch."""
        self.launch, self.stop, self.saved, self.regions = None, None, {}, []

    def undo(self) -> None:
        """Restore what the launch has written."""
        for index, data in self.saved.items():
            self.regions[index].data[:] = data

    # -- counts ------------------------------------------------------------------------

    def report(self, done: int) -> None:
        """Add the counts of `done` blocks to those of the decoded code."""
        self.launch.journal.note_start(done * self.warps)
        self.launch.journal.note_longest(int(self.context[Context.MOST_EXECUTED]))
        if not self.launch.configuration.counting:
            return
        unit, values = self.unit, self.counter_values.tolist()
        for number, block in enumerate(unit.code.blocks):
            fast, general = (
                values[unit.fast_runs + number],
                values[unit.general_runs + number],
            )
            block.executions += fast + general
            block.lanes += 32 * fast + values[unit.general_lanes + number]
        for index, counts in unit.code.branch_counts.items():
            block = self._block_of(index)
            counts[0] += (
                values[unit.fast_runs + block] + values[unit.general_runs + block]
            )
            counts[1] += values[unit.divergent[index]]
        for index, number in unit.guarded.items():
            unit.code.guarded_lanes[index] += values[number]
        self._report_accesses(values)

    def _report_accesses(self, values: list[int]) -> None:
        unit = self.unit
        fixed = (
            {row[0]: row[1:] for row in self.fast.notes["fixed"]} if self.fast else {}
        )
        for index, counts in unit.counts.items():
            access = unit.accesses[index]
            found = values[counts.slots : counts.slots + 3]
            if index in fixed:
                *each, block, missed = fixed[index]
                times = values[unit.fast_runs + block] - sum(values[n] for n in missed)
                found = [n + times * one for n, one in zip(found, each, strict=True)]
            if found[0]:
                access.add_counts(*found)

    def _block_of(self, index: int) -> int:
        starts = self.unit.block_starts
        return int(np.searchsorted(starts, index, side="right")) - 1


def _numbers(blocks: Sequence[int]) -> np.ndarray:
    """Return linear indices of blocks in the form for compiled code."""
    if isinstance(blocks, range):
        return np.arange(blocks.start, blocks.stop, blocks.step, dtype=np.int64)
    return np.array(blocks, np.int64)


def _address(function) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value
