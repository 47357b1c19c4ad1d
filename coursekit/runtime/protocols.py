"""The types that modules of `runtime` expect of each other, for annotations.

They are protocols, so that `simulator` and `gpu` launch kernels without importing
`launching`, which imports them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path
    from struct import Struct

    from coursekit.hardware import DeviceProperties
    from coursekit.runtime.configuration import Configuration, Needs
    from coursekit.simt import Counters, SharedAccess
    from coursekit.toolchain.cubin import Resources
    from coursekit.toolchain.signature import Parameter


class CudaArray(Protocol):
    """An array of CuPy, PyTorch or another library, in the memory of a GPU."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The place and the type of the array."""


AnyArray = np.ndarray | CudaArray


class Buffer(Protocol):
    """A run of bytes in device memory, freed with the last reference to it."""

    @property
    def space(self) -> str:
        """Where it lies, "gpu" or "simulator"."""

    @property
    def address(self) -> int:
        """Its first byte."""

    @property
    def nbytes(self) -> int:
        """Its length."""

    def read(self, offset: int, nbytes: int) -> np.ndarray:
        """Copy bytes to the host, as a fresh array of uint8."""

    def write(self, offset: int, data: np.ndarray) -> None:
        """Copy an array of uint8 from the host."""


class Region(Protocol):
    """A run of bytes in the simulator's memory."""

    name: str
    filled: bool
    shape: tuple[int, ...] | None
    dtype: np.dtype | None

    @property
    def address(self) -> int:
        """Its first byte."""

    @property
    def nbytes(self) -> int:
        """Its length."""

    @property
    def data(self) -> np.ndarray:
        """Its bytes, and what pads them."""


class Program(Protocol):
    """A module that is loaded into the simulator."""

    @property
    def variables(self) -> Mapping[str, Any]:
        """The regions of its global variables, by name."""

    def kernel(self, name: str) -> Any:
        """Return the function of this name in the PTX."""

    def shared_variables(self, name: str, dynamic: int) -> list[tuple[str, int, int]]:
        """List name, bytes and alignment of a kernel's shared variables."""

    def shared_accesses(self, name: str) -> list[SharedAccess]:
        """List a kernel's accesses of shared memory."""


class Allocator(Protocol):
    """A backend, as far as it holds arrays."""

    @property
    def space(self) -> str:
        """The memory that its kernels reach, "gpu" or "simulator"."""

    def allocate(
        self,
        nbytes: int,
        *,
        name: str = "",
        shape: tuple[int, ...] | None = None,
        dtype: np.dtype | None = None,
    ) -> Buffer:
        """Reserve memory, filled with the poison pattern."""


class CompiledModule(Protocol):
    """A module, as far as a backend loads it."""

    @property
    def name(self) -> str:
        """What messages call its source."""

    @property
    def path(self) -> Path | None:
        """The file of its source; None of text that came from no file."""

    @property
    def ptx(self) -> str:
        """Its PTX."""

    @property
    def source(self) -> str:
        """Its source text."""

    @property
    def sources(self) -> Mapping[str, str]:
        """Text of each own file by its name in line information."""

    def cubin(self, arch: str | int | None = None) -> bytes:
        """Return machine code."""

    def loadable(self, arch: str) -> bytes:
        """Return what a GPU's driver loads on an architecture."""

    def edited(self, text: str) -> CompiledModule:
        """Compile another text in place of the source, with the same options."""

    def __getitem__(self, name: str) -> Any:
        """Return the kernel of a name."""

    def machine_listing(self, arch: str | int) -> str:
        """Return machine code as text, with source lines and the targets of jumps."""

    def remember(
        self, kind: str, arch: str | int, make: Callable[[], dict[str, Any]]
    ) -> dict[str, Any]:
        """Return what `make` computes from machine code, from the cache if possible."""

    def resources_on(self, name: str, arch: str | int) -> Resources:
        """Return the resources of a kernel that is compiled for an architecture."""


class Packer(Protocol):
    """The parameters of a kernel, as far as a backend packs their values."""

    @property
    def layout(self) -> Struct:
        """The place and the format of each value."""

    def pack(self, values: Sequence[Any]) -> bytes:
        """Lay the values out as the kernel reads them."""


class CompiledKernel(Protocol):
    """A kernel, as far as a backend launches it."""

    @property
    def module(self) -> CompiledModule:
        """The module that it belongs to."""

    @property
    def name(self) -> str:
        """Its name in C++."""

    @property
    def lowered_name(self) -> str:
        """Its name in the machine code."""

    @property
    def signature(self) -> Packer:
        """Its parameters, as they are packed."""

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Names and types of its parameters."""


class StagedArguments(Protocol):
    """The arguments of one launch, which the device can reach."""

    @property
    def values(self) -> list[Any]:
        """The values to pack; pointers are device addresses."""

    @property
    def arrays(self) -> list[tuple[int, str, Any]]:
        """Device address, parameter name and description of each array."""

    @property
    def uses_torch(self) -> bool:
        """Whether an argument is a torch tensor that is used where it lies."""


class LaunchResult(Protocol):
    """What the simulator returns of a launch."""

    @property
    def counters(self) -> Counters | None:
        """What the launch did, where it was to be counted."""

    @property
    def engine(self) -> str:
        """Which engine ran it, "compiled" or "interpreter"."""


class Backend(Allocator, Protocol):
    """The interface of a GPU or of the simulator to a launch."""

    @property
    def device(self) -> DeviceProperties:
        """The device, whose limits a launch is checked against."""

    def needs(self, kernel: CompiledKernel) -> Needs:
        """Return what the kernel itself asks of a launch."""

    def launch(
        self,
        kernel: CompiledKernel,
        configuration: Configuration,
        staged: StagedArguments,
        *,
        wait: bool,
    ) -> object:
        """Launch with staged arguments; wait for the end where `wait` says so."""
