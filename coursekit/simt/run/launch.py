"""A launch: blocks run one after another, or side by side when they must wait.

It has three parts: a frozen configuration says what was asked for, the journal holds
what has happened, and the launch itself runs the blocks.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from coursekit import errors
from coursekit.simt.analysis.wide_accesses import CountingPlan
from coursekit.simt.interpreter import interrupts
from coursekit.simt.interpreter.block import Block
from coursekit.simt.interpreter.clusters import uses_clusters
from coursekit.simt.interpreter.endless import EndlessLoopProof, endless
from coursekit.simt.interpreter.program import Program
from coursekit.simt.interpreter.warp import PLAIN_FUEL, POLLING_FUEL
from coursekit.simt.memory import faults
from coursekit.simt.memory.memory import SHARED_SPAN, Region, shared_layout, storage
from coursekit.simt.memory.printf import Printer
from coursekit.simt.run import clusters
from coursekit.simt.run.limits import (
    LOCAL_BYTES,
    PATIENCE,
    RESIDENT_BLOCKS,
    LaunchResult,
    Order,
    OutOfTime,
    Trial,
    TriedLongEnough,
)
from coursekit.simt.run.totals import tally


@dataclass(frozen=True)
class LaunchConfiguration:
    """The configuration of a launch; see `launch` for the parameters."""

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
    cluster: tuple[int, int, int] | None = None
    write: Callable = print
    plan: CountingPlan = field(default_factory=CountingPlan)
    observer: Any = None
    engine: str = "auto"
    cache: Callable | None = None
    progress: Callable | None = None
    notice: Callable | None = None


@dataclass
class Journal:
    """The record of a launch since its first block began."""

    warps: int = 0
    finished_blocks: int = 0
    longest_warp_instructions: int = 0
    clock_reads: int = 0

    def note_start(self, warps: int) -> None:
        """Record that warps begin."""
        self.warps += warps

    def note_longest(self, instructions: int) -> None:
        """Record how many instructions a warp has executed."""
        if instructions > self.longest_warp_instructions:
            self.longest_warp_instructions = instructions

    def note_finished(self, block: Block) -> None:
        """Record that a block is complete."""
        self.finished_blocks += 1
        self.note_longest(max(warp.executed for warp in block.warps))

    def read_clock(self, warp) -> int:
        """Return a monotonic clock that counts instructions, not cycles."""
        self.clock_reads += 1
        return warp.executed + self.clock_reads


class Parameters:
    """The values of a kernel's parameters, and their addresses where it takes them."""

    def __init__(self, configuration: LaunchConfiguration, function):
        self._memory, self._bytes = configuration.program.memory, configuration.params
        self._values: dict[tuple, object] = {}
        self._regions: dict[str, Region] = {}
        self._places: dict[str, tuple[int, int]] = {}
        offset = 0
        for variable in function.parameters:
            offset = -(-offset // variable.align) * variable.align
            self._places[variable.name] = (offset, variable.nbytes)
            offset += variable.nbytes
        if offset > len(self._bytes):
            raise errors.ArgumentError.explained(
                f"{configuration.name} takes {offset} bytes of parameters, "
                f"{len(self._bytes)} were given.",
            )

    def __contains__(self, name: str) -> bool:
        return name in self._places

    def value(self, name: str, offset: int, dtype: np.dtype):
        """Return a value from a parameter."""
        key = (name, offset, dtype)
        if key not in self._values:
            start = self._places[name][0] + offset
            self._values[key] = np.frombuffer(self._bytes, dtype, 1, start)[0]
        return self._values[key]

    def region(self, name: str) -> Region:
        """Return the memory of a parameter whose address the kernel takes."""
        if name not in self._regions:
            start, nbytes = self._places[name]
            data = storage(nbytes)
            data[:] = np.frombuffer(self._bytes, np.uint8, nbytes, start)
            region = self._memory.allocate(nbytes, name=name, space="const", data=data)
            region.read_only = True
            self._regions[name] = region
        return self._regions[name]

    def free(self) -> None:
        """Free the memory that holds parameters."""
        for region in self._regions.values():
            self._memory.free(region)


class Launch:
    """One launch of a kernel while it runs.

    Attributes
    ----------
    configuration : LaunchConfiguration
    journal : Journal
    program : Program
        What runs: an observer puts a program of its own in place of the plain one.
    patience : int
        Turns that a warp spins before lanes that wait for it go on alone.
    work : int
        Warp instructions that the interpreter has executed; an atomic is several.
    """

    def __init__(self, configuration: LaunchConfiguration):
        self.configuration, self.journal = configuration, Journal()
        self.program = program = configuration.program
        name = configuration.name
        program.reachable(name)
        observer = configuration.observer
        if observer is not None and not observer.compiles:
            program = observer.watched(program)  # so that the plain one is not decoded
        self.memory, self.code = program.memory, program.code(name)
        self.threads = math.prod(configuration.block_shape)
        self.blocks = math.prod(configuration.grid)
        self.local_bytes = program.local_bytes(name)
        self.shared_variables = program.shared_variables(
            name, configuration.shared_bytes
        )
        self._check_sizes()
        self._find_clusters()
        self.parameters = Parameters(configuration, self.code.function)
        self.patience, self.fuel = PATIENCE, PLAIN_FUEL
        self._random: random.Random | None = None
        self._shared_addresses: dict[str, int] = {}
        self._workspace: Region | None = None
        self._trial: Trial | None = None
        self.work = 0
        self.printer = Printer(configuration.write)

    def start_clock(self) -> None:
        """Start the time limit of the launch: computing time, whatever else runs."""
        self._deadline = time.thread_time() + self.configuration.timeout_s

    def watch(self) -> None:
        """Let the observer observe the interpreter."""
        self.program = self.configuration.observer.attach(self)
        self.code = self.program.code(self.configuration.name)
        self._reset_counts()

    def _check_sizes(self) -> None:
        """Refuse more shared or local memory than a GPU or a thread has."""
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

    def _find_clusters(self) -> None:
        """Take a kernel that asks for its cluster, without one, as clusters of 1."""
        asked = self.configuration
        functions = self.program.reachable(asked.name)
        self.has_clusters = math.prod(asked.cluster or (1,)) > 1
        if not self.has_clusters and any(map(uses_clusters, functions)):
            self.has_clusters = True
            self.configuration = replace(asked, cluster=(1, 1, 1))

    # -- what warps ask for --------------------------------------------------------

    def address_of(self, name: str) -> int:
        """Return the address of a variable in its space."""
        if name in self._shared_addresses:
            return self._shared_addresses[name]
        if name in self.program.variables:
            return self.program.variables[name].address
        if name in self.parameters:
            return self.parameters.region(name).address
        raise errors.UnsupportedError.explained(
            f"the simulator cannot take the address of {name}.",
            "Pointers to functions, virtual functions among them, are not simulated.",
            "Run this kernel on a GPU, or call the function directly.",
        )

    @property
    def workspace_address(self) -> int:
        """Return the address of the grid barrier's counters, or 0."""
        return self._workspace.address if self._workspace is not None else 0

    @property
    def random(self) -> random.Random:
        """The random generator for the orders of warps."""
        if self._random is None:
            self._random = random.Random(self.configuration.order.seed)
        return self._random

    # -- running ----------------------------------------------------------------------

    def run(self) -> LaunchResult:
        """Run all blocks."""
        self.start_again()
        if self.configuration.cooperative:
            self._workspace = self.memory.allocate(4096, name="grid workspace")
            self._workspace.data[:] = 0
        self.start_clock()
        try:
            with np.errstate(all="ignore"):
                engine, note = self._run_blocks()
        finally:
            self.printer.end()
            self.parameters.free()
            if self._workspace is not None:
                self.memory.free(self._workspace)
        counters = tally(self) if self.configuration.counting else None
        if counters is not None and note:
            counters = replace(counters, note=note)
        return LaunchResult(counters, engine, note)

    def _run_blocks(self) -> tuple[str, str]:
        """Run all blocks; return the engine that ran them, and a note."""
        observer = self.configuration.observer
        watched = observer is not None
        if self.configuration.engine == "interpreter" or (
            watched and not observer.compiles
        ):
            if watched:
                self.watch()
            self.interpret(self.block_numbers())
            return "interpreter", ""
        from coursekit.simt.run import engines

        return engines.observe(self) if watched else engines.run(self)

    def start_again(self) -> None:
        """Reset the counts, and repeat the same random orders of warps."""
        self._reset_counts()
        self.journal, self._random, self.patience = Journal(), None, PATIENCE

    def _reset_counts(self) -> None:
        if self.configuration.counting:
            for code in self.program.decoded():
                code.reset()
            self.code.count_as(self.configuration.plan.widths)

    def block_numbers(self) -> Sequence[int]:
        """Return the linear indices of all blocks in the order of the launch."""
        return self.configuration.order.block_numbers(self.blocks)

    def block_indices(self, numbers: Sequence[int]) -> Iterator:
        """Yield (linear index, (x, y, z)) of blocks."""
        width, height, _ = self.configuration.grid
        for number in numbers:
            row, x = divmod(number, width)
            z, y = divmod(row, height)
            yield number, (x, y, z)

    def interpret(self, numbers: Sequence[int]) -> None:
        """Run blocks, given by their linear indices, one step at a time."""
        self.fuel = POLLING_FUEL if self._polls else PLAIN_FUEL
        if self.has_clusters:
            clusters.interpret(self, numbers)
            return
        pending = self.block_indices(numbers)
        journal, cooperative = self.journal, self.configuration.cooperative
        proof = None
        resident: list[Block] = []
        spare: list[Block] = []
        grow = RESIDENT_BLOCKS if cooperative else 1
        upcoming = next(pending, None)
        while upcoming or resident:
            while upcoming and len(resident) < min(grow, RESIDENT_BLOCKS):
                block = spare.pop() if spare else self.new_block()
                linear, index = upcoming
                upcoming = next(pending, None)
                block.start(index, linear)
                journal.note_start(len(block.warps))
                resident.append(block)
            before = journal.finished_blocks
            for block in list(resident):
                if block.run(self.fuel) == "done":
                    journal.note_finished(block)
                    resident.remove(block)
                    spare.append(block)
                    if upcoming:
                        self.check_trial()
                    grow = max(grow - 1, 1) if not cooperative else grow
                else:
                    grow = len(resident) + 1
            if journal.finished_blocks == before:
                proof = proof or EndlessLoopProof()
                self.check_endless(proof, resident)

    def try_to_interpret(self, numbers: Sequence[int], work: int, nbytes: int) -> bool:
        """Interpret blocks with at most `work`; return whether that was enough.

        If not, all is as it was before. At most `nbytes` of arrays are copied for that.
        """
        self._trial, self.work = Trial(work, nbytes), 0
        trial = self._trial
        try:
            self.interpret(numbers)
        except TriedLongEnough:
            trial.put_back()
            self.start_again()
            return False
        finally:
            self._trial = None
        return True

    def take_turns(self) -> None:
        """Let all warps take short turns from now on.

        The warp that asks for it repeats its state; other warps may still change what
        it waits for.
        """
        self.fuel = POLLING_FUEL

    def lose_patience(self) -> None:
        """From now on, let lanes continue at once when others only spin."""
        self.patience = 1

    def check_endless(self, proof: EndlessLoopProof, blocks: list[Block]) -> None:
        """Stop a launch whose state repeats."""
        if self.configuration.order.kind == "seed":  # the next orders are others
            return
        warps = [warp for block in blocks for warp in block.warps]
        if proof.returned(self, warps, blocks):
            raise endless(warps, polls=self._polls)

    def new_block(self) -> Block:
        """Make a block; `Block.start` says which one it is."""
        if not self._shared_addresses and self.shared_variables:
            layout = shared_layout(self.shared_variables)
            self._shared_addresses = {name: at for name, at, _ in layout}
        return Block(self)

    @property
    def _polls(self) -> bool:
        """Whether the kernel may wait for a write of another warp."""
        return self.program.polls(self.configuration.name)

    def tick(self, done: int) -> None:
        """Check the time limit for compiled code, and report its progress."""
        interrupts.poll()
        if time.thread_time() >= self._deadline:
            raise OutOfTime(done)
        self._report_progress(done)

    def _report_progress(self, done: int) -> None:
        if self.configuration.progress is not None:
            self.configuration.progress(done, self.blocks)

    def charge(self, warp) -> None:
        """Count what a warp has executed since it was last charged."""
        self.work += warp.executed - warp.charged
        warp.charged = warp.executed

    def check_trial(self) -> None:
        """Stop a launch whose trial predicts too long a run."""
        if self._trial is not None:
            self._trial.check(self.work, self.journal.finished_blocks, self.blocks)

    def keep(self, region: Region) -> None:
        """Copy an array before the first write to it, if the launch is on trial."""
        if self._trial is not None:
            self._trial.keep(region)

    def check_time(self, warp) -> None:
        """Stop a launch that exceeds its time limit or its trial's work."""
        self.charge(warp)
        self.check_trial()
        if time.thread_time() < self._deadline:
            self._report_progress(self.journal.finished_blocks)
            return
        split = warp.split
        instruction = split.frame.code.last_instruction(split.block)
        timeout_s = self.configuration.timeout_s
        raise faults.kernel_error(
            errors.DeadlockError, warp, int(np.argmax(split.mask)), instruction,
            *faults.too_long(timeout_s, "{thread}", instruction),
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
        Longest time, in seconds of computing on this machine.
    counters : bool
        Whether to count; slower.
    multiprocessors : int
        What %nsmid says.
    cooperative : bool
        All blocks are resident, grid-wide barriers work.
    cluster : tuple of three int, optional
        Blocks of a cluster.
    engine : str
        "auto", "interpreter", "compiled", or "general": compiled code of the general
        tier alone. The results are the same.
    progress : callable, optional
        Called now and then with the blocks done and all blocks.
    notice : callable, optional
        Called before a kernel is compiled that is long; gets its instructions' number.
    cache : callable, optional
        Returns the cache that keeps machine code for later sessions: `get(key,
        fields)` returns a dict or None, and `put(key, value)` stores one.
    write : callable
        Receives the text of device printf.
    plan : CountingPlan
        How shared accesses are counted; as in the PTX by default.
    observer : checks.watching.Observer
        Sees every access and every synchronisation of threads; slower.

    Raises
    ------
    KernelError, UnsupportedError
    DeviceError
        This machine has too little memory.
    KeyboardInterrupt
        SIGINT came; the arrays hold what the kernel has written until then.
    """
    options["order"] = Order.of(options.pop("order", "forward"))
    options["counting"] = options.pop("counters", False)
    with program.lock, interrupts.interruptible():
        configuration = LaunchConfiguration(
            program, program.kernel(name).name, tuple(grid), tuple(block), params,
            **options,
        )  # fmt: skip
        if configuration.observer is not None:
            configuration = configuration.observer.configured(configuration)
        try:
            return Launch(configuration).run()
        except MemoryError as error:
            raise _out_of_memory(configuration) from error


def _out_of_memory(configuration: LaunchConfiguration) -> errors.DeviceError:
    """Build the error for a launch that needs more memory than there is."""
    grid, block = configuration.grid, configuration.block_shape
    return errors.DeviceError.explained(
        f"{configuration.name}: this machine has too little memory to simulate a grid "
        f"of {grid} blocks of {block} threads.",
        "Every resident block keeps its registers, its shared memory and its threads' "
        "own arrays, and arrays that the kernel writes are copied once.",
        "Launch fewer or smaller blocks, use smaller arrays, or close other programs.",
    )
