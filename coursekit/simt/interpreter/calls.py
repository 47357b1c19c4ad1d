"""Calls of device functions and of those that the driver provides."""

from __future__ import annotations

import numpy as np

from coursekit import errors
from coursekit.simt.interpreter.transfers import stripes
from coursekit.simt.interpreter.warp import Frame, Split
from coursekit.simt.memory import faults, printf
from coursekit.simt.memory.memory import GLOBAL_BASE, LOCAL_WINDOW
from coursekit.simt.ptx.ir import Symbol

ADDRESS_BYTES = 8


def make_call(decoder, instruction, number: int):
    """Return the `finish` of a basic block that ends in a call."""
    call = next(o for o in instruction.operands if hasattr(o, "arguments"))
    if not isinstance(call.function, Symbol):
        raise faults.unsupported(decoder.program, instruction, " through a pointer")
    name = call.function.name
    provided = _PROVIDED.get(name)
    if provided is not None:

        def finish(warp):
            provided(warp, instruction, call)
            return number + 1

        return finish
    function = decoder.program.module.functions.get(name)
    if function is None or function.external:
        raise errors.UnsupportedError(f"function {name}")
    return _enter(decoder.program, function, instruction, call, number)


def _enter(program, function, instruction, call, number):
    def finish(warp):
        code = program.code(function.name)
        split, caller = warp.split, warp.frame
        frame = Frame(code, warp, caller, number + 1)
        limit = warp.local_stride - np.uint64(code.local_bytes)
        if frame.local_base > limit:
            raise faults.kernel_error(
                errors.OutOfBoundsError, warp, int(np.argmax(warp.mask)), instruction,
                f"{{thread}} overflows its stack of {int(warp.local_stride):,} bytes "
                f"in {faults.readable(function.name)}.",
                "A recursion is too deep, or never ends.",
                "Check the condition that ends the recursion.",
            )  # fmt: skip
        for parameter, argument in zip(
            function.parameters, call.arguments, strict=True
        ):
            given = stripes(caller, argument, parameter.nbytes)
            frame.params[parameter.name] = given
        for result, target in zip(function.results, call.results, strict=True):
            # Lanes that called from here earlier may still have to read theirs.
            frame.params[result.name] = stripes(caller, target, result.nbytes)
        split.block = number
        warp.ready.append(Split(0, split.mask, frame, split.reconvergence))
        return None

    return finish


def _argument(warp, call, position: int) -> np.ndarray:
    name = call.arguments[position]
    data = np.ascontiguousarray(stripes(warp.frame, name, ADDRESS_BYTES))
    return data.view(f"u{ADDRESS_BYTES}")[:, 0]


def _local_bytes(warp, lane: int, address: int, nbytes: int) -> bytes:
    start = lane * int(warp.local_stride) + address - LOCAL_WINDOW
    end = (lane + 1) * int(warp.local_stride)
    return bytes(warp.local.data[start : min(start + nbytes, end)])


def _vprintf(warp, instruction, call) -> None:
    """Print for the active lanes, in ascending order."""
    templates, buffers = _argument(warp, call, 0), _argument(warp, call, 1)
    launch = warp.block.launch
    if call.results:
        stripes(warp.frame, call.results[0], 4)
    for lane in np.flatnonzero(warp.mask).tolist():
        template = printf.read_string(launch.memory, int(templates[lane]))
        address = int(buffers[lane])
        data = b""
        if LOCAL_WINDOW <= address < GLOBAL_BASE:
            data = _local_bytes(warp, lane, address, 512)
        launch.printer(printf.format_text(template, data, launch.memory))


def _assert_fail(warp, instruction, call) -> None:
    lane = int(np.argmax(warp.mask))
    memory = warp.block.launch.memory
    message = printf.read_string(memory, int(_argument(warp, call, 0)[lane]))
    raise faults.kernel_error(
        errors.IllegalInstructionError, warp, lane, instruction,
        f"{{thread}} fails the assertion `{message}`.",
        "The condition that the kernel asserts does not hold for this thread.",
        "Print the values that the condition uses for this thread, or check them "
        "on the host.",
    )  # fmt: skip


_PROVIDED = {"vprintf": _vprintf, "__assertfail": _assert_fail}
