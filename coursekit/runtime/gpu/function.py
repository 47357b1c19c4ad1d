"""A kernel loaded on a GPU, with its attributes and its argument buffer."""

from __future__ import annotations

import ctypes
import math
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from coursekit.runtime.configuration import PORTABLE_CLUSTER, Configuration, Needs
from coursekit.runtime.gpu import printing

if TYPE_CHECKING:
    from coursekit.runtime.protocols import CompiledKernel

PLAIN_SHARED_BYTES = 48 * 1024
# CUfunction_attribute, the numbers that CuPy has no name for.
_MAX_THREADS, _STATIC_SHARED, _MAX_DYNAMIC_SHARED = 0, 1, 8
_CLUSTER, _LARGE_CLUSTER = (11, 12, 13), 14


class GpuFunction:
    """A kernel loaded on the GPU, with a buffer for the arguments of one launch."""

    def __init__(self, cupy: Any, module: Any, kernel: CompiledKernel):
        self.driver = cupy.cuda.driver
        self.prints = printing.prints(kernel.module.ptx)
        self.function = module.get_function(kernel.lowered_name)
        self.layout = kernel.signature.layout
        self.buffer = ctypes.create_string_buffer(max(self.layout.size, 1))
        start = ctypes.addressof(self.buffer)
        places = [start + each.offset for each in kernel.parameters]
        self.addresses = (ctypes.c_void_p * max(len(places), 1))(*places)
        self.pointers = tuple(map(cupy.cuda.function.CPointer, places))
        self.lock = threading.Lock()
        self.needs = self._read_needs()
        self._opted_in = 0
        self._clustered = False  # whether clusters above 8 blocks are allowed

    def _attribute(self, number: int) -> int:
        value: int = self.driver.funcGetAttribute(number, self.function.ptr)
        return value

    def _read_needs(self) -> Needs:
        x, y, z = map(self._attribute, _CLUSTER)
        return Needs(
            self._attribute(_STATIC_SHARED),
            self._attribute(_MAX_THREADS),
            (x, y, z) if min(x, y, z) > 0 else None,
        )

    def launch(
        self, configuration: Configuration, values: Sequence[Any], stream: Any
    ) -> None:
        """Pack the values and launch; the driver copies them before it returns."""
        self.allow(configuration)
        start = self.starter(configuration)
        with self.lock:
            self.layout.pack_into(self.buffer, 0, *values)
            start(stream)

    def starter(self, configuration: Configuration) -> Callable[[Any], None]:
        """Return a function that launches with what the buffer holds, on a stream.

        It may be called again and again, while `lock` is held.
        """
        special = configuration.cooperative or configuration.cluster
        if special or configuration.early:
            return self._starter_with_attributes(configuration)
        function, pointers = self.function, self.pointers
        grid, block = configuration.grid, configuration.block
        shared_bytes = configuration.shared_bytes

        def start(stream: Any) -> None:
            function(grid, block, pointers, shared_bytes, stream)

        return start

    def allow(self, configuration: Configuration) -> None:
        """Opt in to shared memory above 48 KB, and to clusters above 8 blocks."""
        dynamic = configuration.shared_bytes
        whole = dynamic + self.needs.shared_bytes
        if whole > PLAIN_SHARED_BYTES and dynamic > self._opted_in:
            self._set(_MAX_DYNAMIC_SHARED, dynamic)
            self._opted_in = dynamic
        cluster = configuration.cluster or self.needs.cluster
        if cluster and math.prod(cluster) > PORTABLE_CLUSTER and not self._clustered:
            self._set(_LARGE_CLUSTER, 1)
            self._clustered = True

    def _set(self, number: int, value: int) -> None:
        self.driver.funcSetAttribute(self.function.ptr, number, value)

    def _starter_with_attributes(
        self, configuration: Configuration
    ) -> Callable[[Any], None]:
        from cuda.bindings import driver

        attributes = launch_attributes(driver, configuration)
        config = driver.CUlaunchConfig()
        config.gridDimX, config.gridDimY, config.gridDimZ = configuration.grid
        config.blockDimX, config.blockDimY, config.blockDimZ = configuration.block
        config.sharedMemBytes = configuration.shared_bytes
        config.attrs, config.numAttrs = attributes, len(attributes)
        function = driver.CUfunction(self.function.ptr)
        launch, addresses = driver.cuLaunchKernelEx, ctypes.addressof(self.addresses)
        succeeded = driver.CUresult.CUDA_SUCCESS
        last: Any = None

        def start(stream: Any) -> None:
            nonlocal last
            if stream is not last:  # the driver's form of a stream is made once
                config.hStream, last = driver.CUstream(stream.ptr), stream
            (status,) = launch(config, function, addresses, 0)
            if status is not succeeded:
                self.driver.check_status(int(status))

        return start


def launch_attributes(driver: Any, configuration: Configuration) -> list[Any]:
    """Return the attributes of a launch in the driver's form."""
    kinds, attributes = driver.CUlaunchAttributeID, []
    if configuration.early:
        attribute = driver.CUlaunchAttribute()
        attribute.id = kinds.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
        attribute.value.programmaticStreamSerializationAllowed = 1
        attributes.append(attribute)
    if configuration.cooperative:
        attribute = driver.CUlaunchAttribute()
        attribute.id = kinds.CU_LAUNCH_ATTRIBUTE_COOPERATIVE
        attribute.value.cooperative = 1
        attributes.append(attribute)
    if configuration.cluster:
        attribute = driver.CUlaunchAttribute()
        attribute.id = kinds.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
        shape = attribute.value.clusterDim
        shape.x, shape.y, shape.z = configuration.cluster
        attributes.append(attribute)
    return attributes
