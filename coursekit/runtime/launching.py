"""Kernels and their launches, on a GPU or on the simulator."""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from coursekit.errors import LaunchError
from coursekit.runtime import backend as backends
from coursekit.runtime import forks, simulator
from coursekit.runtime.arguments.signature import Duplicate, Signature, Staged, stage
from coursekit.runtime.configuration import Configuration, Shape, check, configure

if TYPE_CHECKING:
    from coursekit.hardware import DeviceProperties
    from coursekit.runtime.protocols import Backend, CompiledModule, LaunchResult
    from coursekit.simt import CountingPlan
    from coursekit.toolchain.signature import Parameter

_deferred: contextvars.ContextVar[bool] = contextvars.ContextVar(
    "deferred", default=False
)
# Runs a kernel whose arguments are checked and staged, on a simulator.
Substitute = Callable[
    [simulator.SimulatorBackend, "Kernel", Configuration, Staged], object
]
REMEMBERED = 256  # launchers that a kernel keeps
_simulated_by: contextvars.ContextVar[Substitute | None] = contextvars.ContextVar(
    "simulated_by", default=None
)


class Kernel:
    """A kernel of a compiled module, ready to launch.

    Attributes
    ----------
    module
        The module that it belongs to.
    name, lowered_name : str
        Its name in C++, and in the machine code.
    parameters : tuple of Parameter
        Names and C++ types of its parameters.

    Examples
    --------
    ``kernel[grid, block](x, y, n)`` launches; grid and block are ints or tuples
    (x, y, z). ``kernel[grid, block, shared_bytes, stream](x, y, n)`` also sets the
    dynamic shared memory of each block and the stream.
    """

    def __init__(
        self,
        module: CompiledModule,
        name: str,
        lowered_name: str,
        parameters: Iterable[Parameter],
    ):
        self.module = module
        self.name = name
        self.lowered_name = lowered_name
        self.signature = Signature(name, parameters)
        self._launchers: dict[object, Launcher] = {}

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Names and C++ types of the parameters."""
        return self.signature.parameters

    def __repr__(self) -> str:
        return f"Kernel {self.signature}"

    def __getitem__(self, index: Any) -> Launcher:
        """Configure a launch by grid, block, dynamic shared bytes and stream."""
        launcher = self._remembered(index)
        if launcher is None:
            launcher = self._launcher(index)
            self._remember(index, launcher)
        return launcher

    def _remembered(self, key: Any) -> Launcher | None:
        """Return the launcher that a key has made before.

        The extents must be plain ints, for 4.0 equals 4, and is no grid.
        """
        try:
            launcher = self._launchers.get(key)
        except TypeError:  # a list, or a stream without a hash
            return None
        if launcher is None or (type(key[0]) is int and type(key[1]) is int):
            return launcher
        return launcher if _is_plain(key[0]) and _is_plain(key[1]) else None

    def _remember(self, key: Any, launcher: Launcher) -> None:
        if len(self._launchers) >= REMEMBERED:
            self._launchers.clear()
        with contextlib.suppress(TypeError):
            self._launchers[key] = launcher

    def _launcher(self, index: Any) -> Launcher:
        if not isinstance(index, tuple) or not 2 <= len(index) <= 4:
            raise LaunchError.explained(
                f"{self.name}[{index!r}] is no launch configuration.",
                "The brackets hold the grid and the block, and may add the bytes of "
                "dynamic shared memory and a stream.",
                f"Write {self.name}[grid, block](...).",
            )
        rest: tuple[Any, ...] = (0, None)
        grid, block, shared_bytes, stream = (*index, *rest[len(index) - 2 :])
        return Launcher(
            self,
            configure(self.name, grid, block, shared_bytes=shared_bytes, stream=stream),
        )

    def __call__(self, *arguments: object) -> NoReturn:
        """Refuse: a launch needs a grid and a block."""
        raise LaunchError.explained(
            f"{self.name}(...) has no grid and no block.",
            "A kernel runs as many blocks of as many threads as the launch says.",
            f"Write {self.name}[grid, block](...).",
        )

    def launch(
        self,
        grid: Shape,
        block: Shape,
        *arguments: Any,
        shared_bytes: int = 0,
        stream: object = None,
        cooperative: bool = False,
        cluster: Shape | None = None,
        early: bool = False,
    ) -> None:
        """Launch with every option.

        Parameters
        ----------
        grid, block : int or tuple of int
            Blocks, and threads per block, (x, y, z).
        *arguments
            One for each parameter of the kernel.
        shared_bytes : int
            Dynamic shared memory of each block.
        stream : cupy.cuda.Stream, torch.cuda.Stream or None
            None launches on the current stream, waits for the end, and checks.
        cooperative : bool
            Make all blocks resident at once, for grid-wide barriers.
        cluster : int or tuple of int, optional
            Blocks a cluster.
        early : bool
            Let the kernel begin before the one in front of it on the stream has ended.
            It waits itself for that kernel's results, with `griddepcontrol.wait`.

        Raises
        ------
        LaunchError
            The configuration is impossible.
        ArgumentError
            An argument does not fit its parameter.
        KernelError
            The kernel did something wrong; arrays on the host are then unchanged.
        """
        key = grid, block, shared_bytes, stream, cooperative, cluster, early
        launcher = self._remembered(key)
        if launcher is None:
            configuration = configure(
                self.name,
                grid,
                block,
                shared_bytes=shared_bytes,
                stream=stream,
                cooperative=cooperative,
                cluster=cluster,
                early=early,
            )
            launcher = Launcher(self, configuration)
            self._remember(key, launcher)
        launcher(*arguments)


def _is_plain(extent: Any) -> bool:
    """Return whether an extent is an int, or a tuple of ints."""
    if type(extent) is tuple:
        return all(type(length) is int for length in extent)
    return type(extent) is int


class Launcher:
    """A kernel with its launch configuration; call it with the arguments."""

    __slots__ = ("_quick", "configuration", "kernel")

    def __init__(self, kernel: Kernel, configuration: Configuration):
        self.kernel = kernel
        self.configuration = configuration
        self._quick: Callable[[tuple[Any, ...]], bool] | None = None

    def __repr__(self) -> str:
        shown = f"{self.kernel.name}[{self.configuration.written}]"
        arguments = self.kernel.signature.names
        return f"{shown} by itself launches nothing; type {shown}({arguments})"

    def __call__(self, *arguments: Any) -> None:
        """Launch; see `Kernel.launch`."""
        quick = self._quick
        waits = self.configuration.stream is None and not _deferred.get()
        usable = not waits and simulator.active() is None
        if quick is not None and usable and quick(arguments):
            return
        run(self.kernel, self.configuration, arguments)
        if quick is None and not waits:
            self._prepare()

    def _prepare(self) -> None:
        """Prepare a shorter way for the next launch that does not wait, on a GPU."""
        if backends.current().space == "gpu":
            from coursekit.runtime import gpu
            from coursekit.runtime.gpu.quick import fetchers

            backend = gpu.backend()
            tensors = self.configuration.stream is not None
            rules = self.kernel.signature.rules
            fetch_each = fetchers(backend.cupy, rules, tensors=tensors)
            self._quick = backend.quick(self.kernel, self.configuration, fetch_each)


@forks.held_off()
def run(kernel: Kernel, configuration: Configuration, arguments: Sequence[Any]) -> None:
    """Check a launch, start it on the current backend, and bring its results back."""
    backend = backends.current()
    staged = _staged(backend, kernel, configuration, arguments)
    simulated_by = _simulated_by.get()
    if simulated_by is not None and isinstance(backend, simulator.SimulatorBackend):
        simulated_by(backend, kernel, configuration, staged)
    else:
        on_stream = configuration.stream is not None or _deferred.get()
        wait = bool(staged.copies) or not on_stream
        backend.launch(kernel, configuration, staged, wait=wait)
    staged.copy_back()


def _staged(
    backend: Backend,
    kernel: Kernel,
    configuration: Configuration,
    arguments: Sequence[Any],
    duplicate: Duplicate | None = None,
) -> Staged:
    """Check the arguments and the configuration, and bring the arrays to a backend."""
    values = kernel.signature.convert(arguments)
    check(kernel.name, configuration, backend.needs(kernel), backend.device)
    return stage(backend, kernel.signature.rules, values, duplicate=duplicate)


@dataclass(frozen=True)
class SimulatedLaunch:
    """A launch that was simulated on copies of its arguments; see `simulate`.

    Attributes
    ----------
    configuration : Configuration
    staged : Staged
        The copies, which now hold the results.
    device : DeviceProperties
        The GPU that was simulated.
    result
        What the simulator returned; None where the launch ended in an error.
    error : Exception or None
        The error that ended the launch, of a type that `simulate` was to keep.
    """

    configuration: Configuration
    staged: Staged
    device: DeviceProperties
    result: LaunchResult | None
    error: Exception | None = None


@forks.held_off()
def simulate(
    kernel: Kernel,
    grid: Shape,
    block: Shape,
    args: Sequence[Any],
    *,
    shared_bytes: int = 0,
    cooperative: bool = False,
    plan: Callable[[Kernel, DeviceProperties], CountingPlan] | None = None,
    before: Callable[[Staged], object] | None = None,
    keep: tuple[type[Exception], ...] = (),
    **options: Any,
) -> SimulatedLaunch:
    """Simulate a launch on copies of its arguments, which stay as they are.

    It runs in the simulation that is open, or else in one with the defaults.

    Parameters
    ----------
    kernel, grid, block, args, shared_bytes, cooperative
        As for ``ck.count``.
    plan : callable, optional
        ``plan(kernel, device)`` returns the counting plan for the simulator.
    before : callable, optional
        Receives the staged arguments before the kernel runs.
    keep : tuple of exception types
        Errors that the result keeps, without their traceback, instead of raising.
    **options
        Go to the simulator, for example ``counters=True`` or an ``observer``.

    Raises
    ------
    LaunchError, ArgumentError, KernelError
        As a launch does.
    """
    backend = simulator.current().backend
    configuration = configure(
        kernel.name, grid, block, shared_bytes=shared_bytes, cooperative=cooperative
    )
    staged = _staged(backend, kernel, configuration, args, backend.duplicate)
    if plan is not None:
        options["plan"] = plan(kernel, backend.device)
    if before is not None:
        before(staged)
    result: LaunchResult | None = None
    error: Exception | None = None
    try:
        result = backend.launch(kernel, configuration, staged, **options)
    except keep as ended:
        error = ended.with_traceback(None)
    return SimulatedLaunch(configuration, staged, backend.device, result, error)


@contextlib.contextmanager
def deferred() -> Iterator[None]:
    """Launch without waiting for the end, as a benchmark does.

    Launches on a GPU inside the ``with`` block return at once, unless an argument
    lies on the host. Their errors show when the stream is next waited for.
    """
    token = _deferred.set(True)
    try:
        yield
    finally:
        _deferred.reset(token)


@contextlib.contextmanager
def simulated_by(launch: Substitute) -> Iterator[None]:
    """Let a function run every launch on the simulator inside the ``with`` block.

    Parameters
    ----------
    launch : callable
        ``launch(backend, kernel, configuration, staged)`` runs a kernel whose
        arguments are checked and staged.
    """
    token = _simulated_by.set(launch)
    try:
        yield
    finally:
        _simulated_by.reset(token)
