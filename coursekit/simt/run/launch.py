"""A launch: blocks run one after another, or side by side when they must wait."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from coursekit import errors
from coursekit.simt.analysis.instructions import polls
from coursekit.simt.analysis.wide_accesses import CountingPlan
from coursekit.simt.interpreter.block import Block
from coursekit.simt.interpreter.endless import Standstill, endless
from coursekit.simt.interpreter.program import Program
from coursekit.simt.memory import faults
from coursekit.simt.memory.counters import Counters
from coursekit.simt.memory.memory import SHARED_SPAN, storage
from coursekit.simt.run.totals import tally

LANES = 32
# Basic blocks that a warp runs before others get a turn. Code that polls memory
# waits for other warps and gets short turns; other code runs to its end.
POLLING_FUEL = 128
PLAIN_FUEL = 1 << 22
# Turns that a warp spins before lanes that wait for it to join them go on alone;
# one turn once that has happened, since a lock brings it about for every lane.
PATIENCE = 16
RESIDENT_BLOCKS = 1024
# Seconds of computing after which the blocks that are done tell how long all will take.
GLANCE_S = 0.05
# Local memory that a thread may have, on every GPU.
LOCAL_BYTES = 512 << 10


@dataclass(frozen=True)
class Order:
    """In which order the warps of a block, and the blocks, take turns.

    `kind` is "forward", "reverse", "seed" or "list"; a seed draws a new order for
    every stretch between barriers.
    """

    kind: str = "forward"
    seed: int = 0
    warps: tuple[int, ...] = ()

    @classmethod
    def of(cls, order) -> Order:
        """Read "forward", "reverse", an int seed, or a list of warp numbers."""
        if order in ("forward", "reverse"):
            return cls(order)
        if isinstance(order, (int, np.integer)) and not isinstance(order, bool):
            return cls("seed", seed=int(order))
        if isinstance(order, (list, tuple)) and all(
            isinstance(w, (int, np.integer)) for w in order
        ):
            return cls("list", warps=tuple(int(w) for w in order))
        raise errors.ArgumentError.explained(
            f"order={order!r} is not an order of warps.",
            "",
            'Use "forward", "reverse", an int seed, or a list of warp numbers.',
        )

    def arrange(self, block: Block) -> list:
        """The warps of a block in the order of this turn."""
        warps = block.warps
        if self.kind == "reverse":
            return warps[::-1]
        if self.kind == "seed":
            shuffled = list(warps)
            block.launch.random.shuffle(shuffled)
            return shuffled
        if self.kind == "list":
            named = [warps[w] for w in self.warps if 0 <= w < len(warps)]
            return named + [w for w in warps if w not in named]
        return warps

    def block_numbers(self, count: int) -> Sequence[int]:
        """Linear indices of all blocks in order."""
        numbers = range(count)
        if self.kind == "reverse":
            return numbers[::-1]
        if self.kind == "seed":
            return random.Random(self.seed).sample(numbers, count)
        return numbers


class OutOfTime(Exception):
    """Compiled code has run longer than it may, in the block at a position."""

    def __init__(self, position: int):
        super().__init__(position)
        self.position = position


class TriedLongEnough(Exception):
    """A launch is too long for the interpreter, if there is another way."""


@dataclass(frozen=True)
class LaunchResult:
    """What a launch leaves besides the contents of memory.

    `engine` is "compiled", "interpreter" or "both"; `note` says why the interpreter ran
    where compiled code was asked for.
    """

    counters: Counters | None
    engine: str = "interpreter"
    note: str = ""


@dataclass
class Launch:
    """One launch of a kernel; see `launch` for the parameters."""

    program: Program
    name: str
    grid: tuple[int, int, int]
    block_shape: tuple[int, int, int]
    params: bytes
    shared_bytes: int = 0
    order: Order = field(default_factory=Order)
    timeout_s: float = 30.0
    counting: bool = False
    multiprocessors: int = 132
    cooperative: bool = False
    write: object = print
    plan: CountingPlan = field(default_factory=CountingPlan)
    observer: object = None
    engine: str = "auto"
    cache: object = None
    progress: object = None

    def __post_init__(self):
        self.program.reachable(self.name)
        program = self.program
        self.memory = program.memory
        self.code = program.code(self.name)
        self.threads, self.blocks = math.prod(self.block_shape), math.prod(self.grid)
        self.local_bytes = program.local_bytes(self.name)
        self.shared_variables = program.shared_variables(self.name, self.shared_bytes)
        self._check_sizes()
        self._random = None
        self._params = self._lay_out_parameters()
        self._values: dict[tuple, object] = {}
        self._regions: dict[str, object] = {}
        self._shared_addresses: dict[str, int] = {}
        self.clock_reads = self.longest = self.started_warps = self.finished_blocks = 0
        self._workspace = None
        self.patience = PATIENCE
        self.patience_s: float | None = None
        self.before: dict | None = None  # what arrays held, where it may be put back
        self.room = 0

    def start_clock(self) -> None:
        """Give the launch the time that it may take."""
        self._began = time.thread_time()
        self._deadline = time.monotonic() + self.timeout_s

    def watch(self) -> None:
        """Let the observer see what the interpreter does."""
        self.program = self.observer.attach(self)
        self.code = self.program.code(self.name)
        self._reset_codes()

    def _check_sizes(self) -> None:
        """Refuse what no GPU has on chip, and what no thread may have."""
        shared = sum(nbytes for _, nbytes, _ in self.shared_variables)
        if shared > SHARED_SPAN:
            raise errors.LaunchError.explained(
                f"a block needs {shared:,} bytes of shared memory; the simulator "
                f"has {SHARED_SPAN:,}.",
                "An array in shared memory is larger than any GPU's.",
                "Work on a part of it at a time.",
            )
        if self.local_bytes > LOCAL_BYTES:
            raise errors.LaunchError.explained(
                f"the arrays of a thread take {self.local_bytes:,} bytes; "
                f"{LOCAL_BYTES:,} is the most.",
                "An array that is declared inside a kernel exists once a thread.",
                "Allocate large arrays on the host and pass them to the kernel.",
            )

    # -- what warps ask for --------------------------------------------------------

    def _lay_out_parameters(self) -> dict[str, tuple[int, int]]:
        offset, places = 0, {}
        for variable in self.code.function.parameters:
            offset = -(-offset // variable.align) * variable.align
            places[variable.name] = (offset, variable.nbytes)
            offset += variable.nbytes
        if offset > len(self.params):
            raise errors.ArgumentError.explained(
                f"{self.name} takes {offset} bytes of parameters, "
                f"{len(self.params)} were given.",
            )
        return places

    def parameter(self, name: str, offset: int, dtype: np.dtype):
        """A value out of a kernel parameter."""
        key = (name, offset, dtype)
        if key not in self._values:
            start = self._params[name][0] + offset
            self._values[key] = np.frombuffer(self.params, dtype, 1, start)[0]
        return self._values[key]

    def address_of(self, name: str) -> int:
        """Address of a variable in the space it lives in."""
        if name in self._shared_addresses:
            return self._shared_addresses[name]
        if name in self.program.variables:
            return self.program.variables[name].address
        if name in self._params:
            return self._parameter_region(name).address
        raise errors.UnsupportedError.explained(
            f"the simulator cannot take the address of {name}.",
            "Pointers to functions, virtual functions among them, are not simulated.",
            "Run this kernel on a GPU, or call the function directly.",
        )

    def _parameter_region(self, name: str):
        if name not in self._regions:
            start, nbytes = self._params[name]
            data = storage(nbytes)
            data[:] = np.frombuffer(self.params, np.uint8, nbytes, start)
            region = self.memory.allocate(nbytes, name=name, space="const", data=data)
            region.read_only = True
            self._regions[name] = region
        return self._regions[name]

    def block_specials(self) -> dict[str, np.ndarray]:
        """Special registers that all warps of a block share."""
        values = self.block_values((0, 0, 0), 0)
        return {name: np.full(LANES, v, np.uint32) for name, v in values.items()}

    def block_values(self, index, linear: int) -> dict[str, int]:
        """Special registers of block `index`."""
        workspace = self._workspace.address if self._workspace else 0
        static = sum(size for _, size, _ in self.shared_variables)
        values = {
            "smid": linear % self.multiprocessors,
            "nsmid": self.multiprocessors,
            "gridid": 1,
            "nwarpid": 64,
            "dynamic_smem_size": self.shared_bytes,
            "total_smem_size": static,
            "envreg1": workspace >> 32,
            "envreg2": workspace & 0xFFFFFFFF,
            "is_explicit_cluster": 0,
            "cluster_ctarank": 0,
            "cluster_nctarank": 1,
        }
        for axis, letter in enumerate("xyz"):
            values[f"ctaid.{letter}"] = index[axis]
            values[f"ntid.{letter}"] = self.block_shape[axis]
            values[f"nctaid.{letter}"] = self.grid[axis]
            values[f"clusterid.{letter}"] = index[axis]
            values[f"nclusterid.{letter}"] = self.grid[axis]
            values[f"cluster_ctaid.{letter}"] = 0
            values[f"cluster_nctaid.{letter}"] = 1
        return values

    def clock(self, warp) -> int:
        """A clock that counts instructions, not cycles: it only ever grows."""
        self.clock_reads += 1
        return warp.executed + self.clock_reads

    @property
    def random(self) -> random.Random:
        """Draws the orders of warps."""
        if self._random is None:
            self._random = random.Random(self.order.seed)
        return self._random

    # -- running ----------------------------------------------------------------------

    def run(self) -> LaunchResult:
        """Run all blocks."""
        self.start_again()
        if self.cooperative:
            self._workspace = self.memory.allocate(4096, name="grid workspace")
            self._workspace.data[:] = 0
        self.start_clock()
        try:
            with np.errstate(all="ignore"):
                engine, note = self._run_blocks()
        finally:
            for region in (*self._regions.values(), self._workspace):
                if region is not None:
                    self.memory.free(region)
        found = tally(self) if self.counting else None
        if found is not None and note:
            found = replace(found, note=note)
        return LaunchResult(found, engine, note)

    def _run_blocks(self) -> tuple[str, str]:
        """Run all blocks; returns which engine did, and a note."""
        watched = self.observer is not None
        if self.engine == "interpreter" or (watched and not self.observer.compiles):
            if watched:
                self.watch()
            self.interpret(self.order.block_numbers(self.blocks))
            return "interpreter", ""
        from coursekit.simt.run import engines

        return engines.observe(self) if watched else engines.run(self)

    def start_again(self) -> None:
        """Forget what has been counted, and draw the same orders of warps again."""
        self._reset_codes()
        self._random = None
        self.patience, self.clock_reads = PATIENCE, 0
        self.longest = self.started_warps = self.finished_blocks = 0

    def _reset_codes(self) -> None:
        for code in self.program.decoded():
            code.reset()
        self.code.count_as(self.plan.widths)

    def block_indices(self, numbers: Sequence[int]) -> Iterator:
        """Yield (linear index, (x, y, z)) of blocks."""
        width, height, _ = self.grid
        for number in numbers:
            row, x = divmod(number, width)
            z, y = divmod(row, height)
            yield number, (x, y, z)

    def interpret(self, numbers: Sequence[int]) -> None:
        """Run blocks, given by their linear indices, one step at a time."""
        pending = self.block_indices(numbers)
        self.fuel = POLLING_FUEL if self._polls() else PLAIN_FUEL
        standstill = Standstill()
        resident: list[Block] = []
        spare: list[Block] = []
        grow = RESIDENT_BLOCKS if self.cooperative else 1
        upcoming = next(pending, None)
        while upcoming or resident:
            while upcoming and len(resident) < min(grow, RESIDENT_BLOCKS):
                block = spare.pop() if spare else self._new_block()
                linear, index = upcoming
                upcoming = next(pending, None)
                block.start(index, linear)
                self.started_warps += len(block.warps)
                resident.append(block)
            before = self.finished_blocks
            for block in list(resident):
                if block.run(self.fuel) == "done":
                    self.finished_blocks += 1
                    self.longest = max(
                        self.longest, max(w.executed for w in block.warps)
                    )
                    resident.remove(block)
                    spare.append(block)
                    if upcoming:
                        self.check_patience()
                    grow = max(grow - 1, 1) if not self.cooperative else grow
                else:
                    grow = len(resident) + 1
            if self.finished_blocks == before:
                self._check_standstill(standstill, resident)

    def take_turns(self) -> None:
        """Let all warps take short turns from now on.

        The warp that asks for it has come back to where it was. Others may lead it on.
        """
        self.fuel = POLLING_FUEL

    def _check_standstill(self, standstill: Standstill, blocks: list[Block]) -> None:
        """Stop a launch that has come back to where it was."""
        if self.order.kind == "seed":  # the next orders of warps are others
            return
        warps = [warp for block in blocks for warp in block.warps]
        if standstill.returned(self, warps, blocks):
            raise endless(warps, polls=self._polls())

    def _new_block(self) -> Block:
        if not self._shared_addresses and self.shared_variables:
            from coursekit.simt.memory.memory import shared_layout

            layout = shared_layout(self.shared_variables)
            self._shared_addresses = {name: at for name, at, _ in layout}
        return Block(self)

    def _polls(self) -> bool:
        """Whether the kernel may wait for memory that other warps write."""
        functions = self.program.reachable(self.name)
        return any(polls(i) for f in functions for i in f.instructions)

    def tick(self, done: int) -> None:
        """Compiled code asks, now and then, whether to go on with block `done`."""
        if time.monotonic() >= self._deadline:
            raise OutOfTime(done)
        if self.progress is not None:
            self.progress(done, self.blocks)

    def check_patience(self) -> None:
        """Stop a launch that will compute longer than it was to be tried."""
        if self.patience_s is None:
            return
        spent = time.thread_time() - self._began
        if spent > GLANCE_S:
            # As if the block that runs were done.
            expected = spent * self.blocks / min(self.finished_blocks + 1, self.blocks)
            if expected > self.patience_s:
                raise TriedLongEnough

    def keep(self, region) -> None:
        """Copy an array before the first write to it, if the launch is on trial."""
        if self.before is None or region in self.before or region.space == "shared":
            return
        self.room -= region.nbytes
        if self.room < 0:
            raise TriedLongEnough
        self.before[region] = region.data.copy()

    def check_time(self, warp) -> None:
        """Stop a launch that runs longer than it may, or than it was to be tried."""
        self.check_patience()
        if time.monotonic() < self._deadline:
            if self.progress is not None:
                self.progress(self.finished_blocks, self.blocks)
            return
        split = warp.split
        instruction = split.frame.code.last_instruction(split.block)
        raise faults.kernel_error(
            errors.DeadlockError, warp, int(np.argmax(split.mask)), instruction,
            *faults.too_long(self.timeout_s, "{thread}", instruction),
        )  # fmt: skip


def launch(program, name, grid, block, params, **options) -> LaunchResult:
    """Run a kernel on the simulator.

    Parameters
    ----------
    program : Program
    name : str
        Name of the kernel as it stands in the PTX.
    grid, block : tuple of three int
    params : bytes
        Parameters as the kernel's signature lays them out.
    shared_bytes : int
        Dynamic shared memory per block.
    order : "forward", "reverse", int or list of int
        Order of warps between barriers.
    timeout_s : float
        Longest time, in seconds of this machine.
    counters : bool
        Whether to count; slower.
    multiprocessors : int
        What %nsmid says.
    cooperative : bool
        All blocks are resident, grid-wide barriers work.
    engine : str
        "auto", "interpreter", "compiled", or "general": compiled code of the general
        tier alone. The results are the same.
    progress : callable, optional
        Called now and then with the blocks done and all blocks.
    cache : callable, optional
        Returns the folder in which machine code is kept for later sessions.
    write : callable
        Receives the text of device printf.
    plan : CountingPlan
        How shared accesses are counted; as in the PTX by default.
    observer : checks.watching.Observer
        Sees every access and every meeting of threads; slower.

    Raises
    ------
    KernelError, UnsupportedError
    """
    options["order"] = Order.of(options.pop("order", "forward"))
    options["counting"] = options.pop("counters", False)
    with program.lock:
        return Launch(
            program, program.kernel(name).name, tuple(grid), tuple(block), params,
            **options,
        ).run()  # fmt: skip
