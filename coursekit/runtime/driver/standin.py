"""A stand-in for the CUDA driver: the calls of one launch, answered by the simulator.

It keeps what the driver keeps: whether it is initialised, contexts with their modules,
functions and memory, and the error that a faulty kernel leaves in its context for
good. A GPU may crash on a handle that it never gave; the stand-in returns
CUDA_ERROR_INVALID_HANDLE or CUDA_ERROR_INVALID_CONTEXT, as the manual says.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from coursekit.errors import DeviceError, KernelError, LaunchError, UnsupportedError
from coursekit.hardware import DeviceProperties
from coursekit.runtime import simulator, terminal
from coursekit.runtime.configuration import Configuration, Extent, check, configure
from coursekit.runtime.driver import images, packing
from coursekit.runtime.driver.calls import Calls, Context, Image, call
from coursekit.runtime.driver.refusals import MEANINGS, Refused, of_fault
from coursekit.toolchain.signature import Slot, slots

DRIVER_VERSION = 13000
# Attributes by the end of their names, and the fields of DeviceProperties.
_ATTRIBUTES: dict[str, Callable[[DeviceProperties], int]] = {
    "COMPUTE_CAPABILITY_MAJOR": lambda device: device.compute_capability[0],
    "COMPUTE_CAPABILITY_MINOR": lambda device: device.compute_capability[1],
    "MULTIPROCESSOR_COUNT": lambda device: device.sm_count,
    "MAX_THREADS_PER_BLOCK": lambda device: 1024,
    "WARP_SIZE": lambda device: 32,
}


class StandIn(Calls):
    """One driver without a GPU; its methods are functions of the driver API.

    Examples
    --------
    >>> cu = StandIn()
    >>> result, device = cu.cuDeviceGet(0)
    >>> result.name
    'CUDA_ERROR_NOT_INITIALIZED'
    """

    # ------------------------------------------------- devices and contexts

    @call(needs="nothing")
    def cuInit(self, Flags: int) -> None:
        if Flags != 0:
            raise Refused("CUDA_ERROR_INVALID_VALUE", "The flags must be 0.")
        self._initialised = True

    @call("value", needs="nothing")
    def cuDriverGetVersion(self) -> int:
        return DRIVER_VERSION

    @call("value", needs="init")
    def cuDeviceGetCount(self) -> int:
        return 1

    @call("CUdevice", needs="init")
    def cuDeviceGet(self, ordinal: int) -> int:
        if ordinal != 0:
            raise Refused(
                "CUDA_ERROR_INVALID_DEVICE",
                f"There is one device, number 0, and {ordinal} was asked for.",
            )
        return 0

    def _device(self, dev: Any) -> DeviceProperties:
        if self._handle(dev, "CUdevice") != 0:
            raise Refused("CUDA_ERROR_INVALID_DEVICE", f"There is no device {dev}.")
        return simulator.current().device

    @call("value", needs="init")
    def cuDeviceGetName(self, length: int, dev: Any) -> bytes:
        name = f"{self._device(dev).name} (simulated)".encode()
        return name[: length - 1].ljust(length, b"\0")

    @call("value", needs="init")
    def cuDeviceGetAttribute(self, attrib: Any, dev: Any) -> int:
        name = attrib.name.removeprefix("CU_DEVICE_ATTRIBUTE_")
        if name not in _ATTRIBUTES:
            raise UnsupportedError.explained(
                f"The stand-in for the driver does not know {attrib.name}.",
                f"It knows {', '.join(_ATTRIBUTES)}.",
                "Ask ck.device(), which has all figures of the simulated GPU.",
            )
        return _ATTRIBUTES[name](self._device(dev))

    @call("CUcontext", needs="init")
    def cuCtxCreate(self, ctxCreateParams: Any, flags: int, dev: Any) -> int:
        kind = self._library.CUctxCreateParams
        if ctxCreateParams is not None and not isinstance(ctxCreateParams, kind):
            raise TypeError(
                "Argument 'ctxCreateParams' has incorrect type (expected "
                f"{kind.__module__}.{kind.__name__}, got "
                f"{type(ctxCreateParams).__name__})"
            )
        number = self._new_context(flags + 0, dev)
        self._stack.append(number)
        return number

    def _new_context(self, flags: int, dev: Any) -> int:
        if flags < 0:
            raise OverflowError("can't convert negative value to unsigned int")
        return self._keep(self._contexts, Context(self._device(dev)))

    @call(needs="init")
    def cuCtxDestroy(self, ctx: Any) -> None:
        self._find(self._contexts, ctx, "CUcontext")
        number = self._handle(ctx, "CUcontext")
        del self._contexts[number]
        self._stack = [one for one in self._stack if one != number]

    @call("CUcontext", needs="init")
    def cuDevicePrimaryCtxRetain(self, dev: Any) -> int:
        name = self._device(dev).name
        if self._primaries.get(name) not in self._contexts:
            self._primaries[name] = self._new_context(0, dev)
        return self._primaries[name]

    @call(needs="init")
    def cuDevicePrimaryCtxRelease(self, dev: Any) -> None:
        if self._device(dev).name not in self._primaries:
            raise Refused("CUDA_ERROR_INVALID_CONTEXT", "It was not retained.")

    @call(needs="init")
    def cuCtxSetCurrent(self, ctx: Any) -> None:
        self._find(self._contexts, ctx, "CUcontext")
        self._stack[-1:] = [self._handle(ctx, "CUcontext")]

    @call("CUcontext", needs="init")
    def cuCtxGetCurrent(self) -> int:
        return self._stack[-1] if self._stack else 0

    @call()
    def cuCtxSynchronize(self) -> None:
        """Nothing to wait for: a launch on the simulator has ended when it returns."""

    # ------------------------------------------------------------- modules

    @call("CUmodule")
    def cuModuleLoadData(self, image: Any) -> int:
        if isinstance(image, (str, int)) or image is None:
            raise TypeError(
                f"Provided argument is of type {type(image)}, and the image is bytes: "
                "PTX text.encode(), or a cubin"
            )
        capability = self.context.device.compute_capability
        program, text = images.loaded(bytes(image), capability)
        return self._keep(self.context.modules, Image(program, text))

    @call()
    def cuModuleUnload(self, hmod: Any) -> None:
        image = self._find(self.context.modules, hmod, "CUmodule")
        del self.context.modules[self._handle(hmod, "CUmodule")]
        functions = self.context.functions
        self.context.functions = {
            number: found
            for number, found in functions.items()
            if found[0] is not image
        }

    @call("CUfunction")
    def cuModuleGetFunction(self, hmod: Any, name: bytes) -> int:
        image = self._find(self.context.modules, hmod, "CUmodule")
        if not isinstance(name, bytes):
            raise TypeError(f"expected bytes, {type(name).__name__} found")
        if name.decode() not in image.program.kernels:
            raise Refused(
                "CUDA_ERROR_NOT_FOUND",
                f"The module has no kernel {name.decode()}; it has "
                f"{', '.join(image.program.kernels) or 'none'}.",
            )
        return self._keep(self.context.functions, (image, name.decode()))

    # -------------------------------------------------------------- memory

    @call("CUdeviceptr")
    def cuMemAlloc(self, bytesize: int) -> int:
        if bytesize <= 0:
            raise Refused("CUDA_ERROR_INVALID_VALUE", "An allocation has some bytes.")
        device = self.context.device
        try:
            buffer = simulator.simulated_memory().allocate(
                bytesize, device.memory_bytes, name="memory of cuMemAlloc"
            )
        except DeviceError as error:
            raise Refused("CUDA_ERROR_OUT_OF_MEMORY", str(error)) from None
        self.context.buffers[buffer.address] = buffer
        return int(buffer.address)

    @call()
    def cuMemFree(self, dptr: Any) -> None:
        address = self._handle(dptr, "CUdeviceptr")
        if self.context.buffers.pop(address, None) is None:
            raise Refused(
                "CUDA_ERROR_INVALID_VALUE",
                f"{address:#x} is no address that cuMemAlloc has returned.",
            )

    @call()
    def cuMemcpyHtoD(self, dstDevice: Any, srcHost: Any, ByteCount: int) -> None:
        buffer, offset = self._place(dstDevice, ByteCount)
        buffer.write(offset, _host_bytes(srcHost, ByteCount).copy())

    @call()
    def cuMemcpyDtoH(self, dstHost: Any, srcDevice: Any, ByteCount: int) -> None:
        buffer, offset = self._place(srcDevice, ByteCount)
        _host_bytes(dstHost, ByteCount)[:] = buffer.read(offset, ByteCount)

    def _place(self, pointer: Any, nbytes: int) -> tuple[Any, int]:
        address = self._handle(pointer, "CUdeviceptr")
        for start, buffer in self.context.buffers.items():
            if start <= address and address + nbytes <= start + buffer.nbytes:
                return buffer, address - start
        raise Refused(
            "CUDA_ERROR_INVALID_VALUE",
            f"{nbytes} bytes from {address:#x} on are not inside of one allocation.",
        )

    # -------------------------------------------------------------- launch

    @call()
    def cuLaunchKernel(
        self, f: Any, gridDimX: int, gridDimY: int, gridDimZ: int, blockDimX: int,
        blockDimY: int, blockDimZ: int, sharedMemBytes: int, hStream: Any,
        kernelParams: Any, extra: Any,
    ) -> None:  # fmt: skip
        image, name = self._find(self.context.functions, f, "CUfunction")
        if extra not in (0, None) or int(hStream or 0) != 0:
            raise UnsupportedError.explained(
                "The stand-in for the driver has the default stream, and no `extra`.",
                "A launch without a GPU runs at once, and to its end.",
                "Pass 0 for hStream and 0 for extra.",
            )
        grid = gridDimX, gridDimY, gridDimZ
        block = blockDimX, blockDimY, blockDimZ
        shape = self._checked_shape(image, name, grid, block, sharedMemBytes)
        declared = slots(image.ptx, name)
        params = packing.packed(name, declared, kernelParams)
        self._name_arrays(declared, params)
        self._run(image.program, name, shape, params)

    def _checked_shape(
        self, image: Image, name: str, grid: Extent, block: Extent, shared_bytes: int
    ) -> Configuration:
        try:
            shape = configure(name, grid, block, shared_bytes=shared_bytes)
            needs = simulator.needs_of(image.program, name)
            check(name, shape, needs, self.context.device)
        except LaunchError as error:
            raise Refused("CUDA_ERROR_INVALID_VALUE", str(error)) from None
        return shape

    def _name_arrays(self, declared: tuple[Slot, ...], params: bytes) -> None:
        """Name the memory that parameters point to, for messages."""
        for number, address in packing.pointers(declared, params):
            if address in self.context.buffers:
                region = self.context.buffers[address].region
                region.name, region.parts = f"parameter {number}", ()

    def _run(
        self, program: Any, name: str, shape: Configuration, params: bytes
    ) -> None:
        """Run a kernel; its error is reported by the next call, as on a GPU."""
        from coursekit.simt import launch

        try:
            launch(
                program, name, shape.grid, shape.block, params,
                shared_bytes=shape.shared_bytes, write=terminal.write,
                multiprocessors=self.context.device.sm_count,
                cache=simulator.machine_code,
            )  # fmt: skip
        except KernelError as error:
            self.context.fault = Refused(of_fault(error), str(error))

    # -------------------------------------------------------------- errors

    @call("value", needs="nothing")
    def cuGetErrorName(self, error: Any) -> bytes:
        name: str = self._library.CUresult(error).name
        return name.encode()

    @call("value", needs="nothing")
    def cuGetErrorString(self, error: Any) -> bytes:
        return MEANINGS.get(self._library.CUresult(error).name, "unknown").encode()


FUNCTIONS = tuple(name for name in vars(StandIn) if name.startswith("cu"))


def _host_bytes(host: Any, nbytes: int) -> np.ndarray:
    """Return host memory as bytes; the caller vouches for an address, as on a GPU."""
    if isinstance(host, int):
        host = memoryview((ctypes.c_ubyte * nbytes).from_address(host))
    data: np.ndarray = np.frombuffer(host, np.uint8)
    if data.size < nbytes:
        raise Refused(
            "CUDA_ERROR_INVALID_VALUE",
            f"The host buffer has {data.size} bytes, and {nbytes} are to be copied.",
        )
    return data[:nbytes]
