"""A launch: blocks run one after another, or side by side when they must wait."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from coursekit import errors
from coursekit.simt import faults
from coursekit.simt.block import Block
from coursekit.simt.counters import Counters
from coursekit.simt.memory import storage
from coursekit.simt.merging import CountingPlan
from coursekit.simt.program import Program
from coursekit.simt.tally import tally
from coursekit.simt.transfers import polls

LANES = 32
# Basic blocks that a warp runs before others get a turn. Code that polls memory
# waits for other warps and gets short turns; other code runs to its end.
POLLING_FUEL = 128
PLAIN_FUEL = 1 << 22
# Turns that a warp spins before lanes that wait for it to join them go on alone;
# one turn once that has happened, since a lock brings it about for every lane.
PATIENCE = 16
RESIDENT_BLOCKS = 1024


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

    def arrange_blocks(self, grid) -> Iterator[tuple[int, tuple[int, int, int]]]:
        """Yield (linear index, (x, y, z)) of all blocks in order."""
        width, height, depth = grid
        numbers = range(width * height * depth)
        if self.kind == "reverse":
            numbers = numbers[::-1]
        elif self.kind == "seed":
            numbers = random.Random(self.seed).sample(numbers, len(numbers))
        for number in numbers:
            row, x = divmod(number, width)
            z, y = divmod(row, height)
            yield number, (x, y, z)


@dataclass(frozen=True)
class LaunchResult:
    """What a launch leaves besides the contents of memory."""

    counters: Counters | None


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

    def __post_init__(self):
        program = self.program
        self.memory = program.memory
        self.code = program.code(self.name)
        self.threads = int(np.prod(self.block_shape))
        self.local_bytes = program.local_bytes(self.name)
        self.shared_variables = program.shared_variables(self.name, self.shared_bytes)
        self.random = random.Random(self.order.seed)
        self._params = self._lay_out_parameters()
        self._values: dict[tuple, object] = {}
        self._regions: dict[str, object] = {}
        self._shared_addresses: dict[str, int] = {}
        self._time = self.longest = self.started_warps = 0
        self._workspace = None
        self.patience = PATIENCE

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
        self._time += 1
        return warp.executed + self._time

    # -- running ----------------------------------------------------------------------

    def run(self) -> LaunchResult:
        """Run all blocks."""
        for code in self.program.decoded():
            code.reset()
        self.code.count_as(self.plan.widths)
        if self.cooperative:
            self._workspace = self.memory.allocate(4096, name="grid workspace")
            self._workspace.data[:] = 0
        self._deadline = time.monotonic() + self.timeout_s
        try:
            with np.errstate(all="ignore"):
                self._run_blocks()
        finally:
            for region in (*self._regions.values(), self._workspace):
                if region is not None:
                    self.memory.free(region)
        return LaunchResult(tally(self) if self.counting else None)

    def _run_blocks(self) -> None:
        pending = self.order.arrange_blocks(self.grid)
        fuel = POLLING_FUEL if self._polls() else PLAIN_FUEL
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
            for block in list(resident):
                if block.run(fuel) == "done":
                    self.longest = max(
                        self.longest, max(w.executed for w in block.warps)
                    )
                    resident.remove(block)
                    spare.append(block)
                    grow = max(grow - 1, 1) if not self.cooperative else grow
                else:
                    grow = len(resident) + 1

    def _new_block(self) -> Block:
        if not self._shared_addresses and self.shared_variables:
            from coursekit.simt.memory import shared_layout

            layout = shared_layout(self.shared_variables)
            self._shared_addresses = {name: at for name, at, _ in layout}
        return Block(self)

    def _polls(self) -> bool:
        """Whether the kernel may wait for memory that other warps write."""
        functions = self.program.reachable(self.name)
        return any(polls(i) for f in functions for i in f.instructions)

    def check_time(self, warp) -> None:
        """Stop a launch that runs longer than it may."""
        if time.monotonic() < self._deadline:
            return
        split = warp.split
        instruction = split.frame.code.last_instruction(split.block)
        raise faults.kernel_error(
            errors.DeadlockError, warp, int(np.argmax(split.mask)), instruction,
            f"{{thread}} is still running after {self.timeout_s:g} s.",
            "A loop that never ends, or one that waits for a value that no other "
            "thread writes; or more work than the simulator can do in that time.",
            "Check the condition that ends the loop; for more work pass a larger "
            "timeout_s to ck.simulator().",
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
    write : callable
        Receives the text of device printf.
    plan : CountingPlan
        How shared accesses are counted; as in the PTX by default.

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
