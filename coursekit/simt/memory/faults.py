"""Errors of a kernel, worded for students."""

from __future__ import annotations

import functools
import re

import numpy as np

from coursekit import errors
from coursekit.simt.memory import guards
from coursekit.simt.memory.memory import GLOBAL_BASE, Part, Region
from coursekit.simt.ptx.ir import Instruction, Location

NULL_SPAN = 1 << 32


class Fault(Exception):
    """An illegal access; `position` counts the active lanes."""

    def __init__(self, position: int, address: int, width: int, region: Region | None):
        super().__init__(position, address, width, region)
        self.position, self.address = position, address
        self.width, self.region = width, region


@functools.lru_cache(16)
def _lines_of(text: str) -> list[str]:
    return text.splitlines()


def source_place(program, location: Location | None) -> tuple[Location | None, str]:
    """Return the innermost location in the student's source, and its text."""
    place = location
    while place is not None and place.file not in program.sources:
        place = place.inlined_at
    place = place or location
    if place is None:
        return None, ""
    lines = _lines_of(program.sources.get(place.file, ""))
    text = lines[place.line - 1].strip() if 0 < place.line <= len(lines) else ""
    shown = f"{place.file}:{place.line}"
    if text:
        shown += f"    {text}"
    outer = place.inlined_at
    while outer is not None and outer.file not in program.sources:
        outer = outer.inlined_at
    if outer is not None and outer.line != place.line:
        shown += f"\n  called from {outer.file}:{outer.line}"
    return place, shown


def kernel_error(kind, warp, lane: int, instruction, what, cause="", cure=""):
    """Build a KernelError that names thread, block and source line.

    `what` may hold the placeholder `{thread}`.
    """
    thread, block = warp.thread(lane), warp.block.index
    name = f"thread {thread} of block {block}"
    location = instruction.location if instruction is not None else None
    place, shown = source_place(warp.block.launch.program, location)
    message = what.replace("{thread}", name)
    if shown:
        message += "\n  " + shown
        cause, cure = (guards.in_language(text, shown) for text in (cause, cure))
    error = kind.explained(message, cause, cure)
    error.thread, error.block = thread, block
    if place is not None:
        error.file, error.line = place.file, place.line
    return error


_STATIC = re.compile(r"E(\d+)([A-Za-z_]\w*)")


def readable(symbol: str) -> str:
    """Return a variable's name in the source from its mangled name.

    >>> readable("_ZZ12matmul_tiledE2As")
    'As'
    """
    if symbol.startswith("_ZZ"):
        for match in _STATIC.finditer(symbol):
            length, rest = int(match[1]), match[2]
            if length <= len(rest) and re.fullmatch(r"(_\d+)?_?", rest[length:]):
                return rest[:length]
    match = re.match(r"_ZL?(\d+)", symbol)
    if match:
        return symbol[match.end() : match.end() + int(match[1])]
    return symbol


def _item(region: Region | Part, width: int) -> int:
    """Return the bytes of an element, as far as known."""
    return region.dtype.itemsize if region.dtype is not None else width


def _extent(part: Region | Part, width: int) -> str:
    size = _item(part, width)
    count = part.nbytes // size
    text = f"{count} {'element' if count == 1 else 'elements'}"
    if part.dtype is not None and part.shape and len(part.shape) > 1:
        text += f" ({' x '.join(map(str, part.shape))})"
    if part.dtype is None:
        text += f" of {size} bytes" if size > 1 else " of 1 byte"
    return text


def _membership(region: Region, part: Part, width: int) -> str:
    """Return which elements of the whole array an argument is; "" if it is all."""
    size = _item(part, width)
    if part.nbytes == region.nbytes or region.shape is None or not part.nbytes:
        return ""
    first, last = part.start // size, (part.start + part.nbytes) // size - 1
    which = f"elements {first} to {last}" if first < last else f"element {first}"
    return f": it is {which} of an array of {_extent(region, width)}"


def element(region: Region, offset: int, width: int) -> str:
    """Return the element at an offset as the source writes it: `A[3200]`."""
    part = region.part(offset)
    index, rest = divmod(offset - part.start, _item(part, width))
    shown = f"{readable(part.name) or 'an array'}[{index}]"
    return f"{shown} (byte {rest} of it)" if rest else shown


def _misaligned(region: Region, part: Part, offset: int, width: int) -> tuple[str, ...]:
    """Return what is misaligned, why, and the cure."""
    at, name = offset - part.start, readable(part.name) or "an array"
    whole = f", which is byte {offset} of the whole array" if part.start else ""
    what = (
        f"{width} bytes at byte {at} of {name}{whole}: misaligned, "
        f"{offset} is not a multiple of {width}."
    )
    if at % width == 0:
        return (
            what,
            f"{name} is a slice that begins at byte {part.start} of its array, and a "
            "pointer to it was cast to a wider type, such as float4.",
            f"Let the slice begin at a multiple of {width} bytes.",
        )
    return (
        what,
        "A pointer was cast to a wider type, such as float4, at an odd offset.",
        f"Access {width}-byte values at multiples of {width} bytes only.",
    )


def access_error(warp, lane, instruction, fault: Fault, verb: str):
    """Return the error for an illegal access; `verb` is reads, writes or updates."""
    region, address, width = fault.region, fault.address, fault.width
    if region is None:
        return _stray(warp, lane, instruction, address, width, verb)
    offset = address - region.address
    part = region.part(offset)
    name = readable(part.name) or "an array"
    place = element(region, offset, width)
    if region.freed:
        what = f"{{thread}} {verb} {place}, but that array has been freed."
        cause = "The array was deleted, or a temporary copy ended with its launch."
        cure = "Keep a reference to the array as long as kernels use its address."
    elif region.space == "local" and not region.nbytes:
        what = f"{{thread}} {verb} local memory in which no variable lies."
        cause = "A pointer to a variable is used after its function has returned."
        cure = "Return the value itself, or let the caller pass an array to be filled."
    elif offset % width and 0 <= offset <= region.nbytes - width:
        what, cause, cure = _misaligned(region, part, offset, width)
        what = f"{{thread}} {verb} {what}"
    else:
        what = f"{{thread}} {verb} {place}, but {name} has {_extent(part, width)}"
        what += f"{_membership(region, part, width)}."
        cause, cure = _bounds_advice(region, part, offset)
        if offset == region.nbytes > 0:
            cure = cure.removesuffix(".") + ": `<=` lets in one index too many."
    return kernel_error(
        errors.OutOfBoundsError, warp, lane, instruction, what, cause, cure
    )


def _bounds_advice(region: Region, part: Part, offset: int) -> tuple[str, str]:
    if offset < 0:
        return (
            "An index became negative: a neighbour of the first element, or an "
            "int that overflowed.",
            guards.LOWER_BOUND,
        )
    if _wrapped(region, offset):
        return (
            "An unsigned index went below 0 and began again at 4294967295.",
            "Count with int, or leave the loop before the index is 0.",
        )
    if region.space == "shared" and not region.nbytes:
        return (
            "The launch gives this kernel no dynamic shared memory.",
            "Give its bytes as the third index: kernel[grid, block, bytes](...).",
        )
    if region.space == "shared":
        return (
            "The index is larger than the tile that the block keeps on chip.",
            "Compare the array's size with the block's shape and the index.",
        )
    if region.space == "local":
        return (
            "The index is larger than the thread's own array.",
            "Compare the array's size with the loop's bounds.",
        )
    if part.shape and len(part.shape) > 1:
        cure = guards.EACH_INDEX
    else:
        cure = guards.THE_ACCESS
    return (
        "Often the grid is rounded up and the last blocks have threads without work.",
        cure,
    )


def _wrapped(region: Region, offset: int) -> bool:
    """Whether an offset looks like a negative 32-bit number without its sign."""
    index = offset // _item(region, 4)
    return region.nbytes < 1 << 31 and (1 << 32) - (1 << 20) <= index < 1 << 32


def _stray(warp, lane, instruction, address, width, verb):
    if address < NULL_SPAN or address >= (1 << 64) - NULL_SPAN:
        what = f"{{thread}} {verb} {width} bytes through a null pointer ({address:#x})."
        cause = "A pointer argument was None, or a pointer was never set."
        cure = "Pass an array for it, or test the pointer before using it."
    else:
        what = f"{{thread}} {verb} {width} bytes at {address:#x}, where no array is."
        cause = "The address was computed from something that is not a pointer."
        cure = "Check pointer arithmetic and casts on this line."
    return kernel_error(
        errors.OutOfBoundsError, warp, lane, instruction, what, cause, cure
    )


# Where a launch may only take long.
_LONG = (
    "; or more work than the simulator can do in that time",
    "; for more work pass a larger timeout_s to ck.simulator()",
)


def too_long(timeout_s: float, who: str, instruction=None) -> tuple[str, str, str]:
    """Return the message for a launch over its time limit: what, why, cure."""
    said = f"{who} is still running after {timeout_s:g} s."
    return said, *endless_advice(instruction, *_LONG)


def endless_advice(instruction, more: str = "", cure: str = "") -> tuple[str, str]:
    """Return why a launch never ends, and the cure; also `more`, and `cure`."""
    place = instruction and instruction.location
    if place is not None and place.file.startswith("cooperative_groups"):
        return (
            "It waits for all blocks at a barrier of the grid, and one of them never "
            "gets there.",
            "Let every thread of every block call grid.sync(), as often as the others; "
            "put it in no branch that only some blocks take.",
        )
    return (
        "A loop that never ends, or one that waits for a value that no other thread "
        f"writes{more}.",
        f"Check the condition that ends the loop{cure}.",
    )


_LOOP = re.compile(r"\b(?:for|while)\b")


def division_error(warp, lane: int, instruction):
    """Return the error for an integer division by zero.

    In a loop without a division the compiler divides by the step of the loop, to
    count its iterations.
    """
    _, shown = source_place(warp.block.launch.program, instruction.location)
    line = shown.partition("    ")[2].partition("\n")[0]
    text = re.sub(r"//.*|/\*.*?\*/", "", line)
    if _LOOP.search(text) and not re.search(r"[/%]", text):
        return kernel_error(
            errors.DeadlockError, warp, lane, instruction,
            "{thread} would never leave this loop: its step is 0.",
            "The counter of the loop is the same in every iteration.",
            "Check the value that is added in each iteration; it must not be 0.",
        )  # fmt: skip
    return kernel_error(
        errors.DivisionByZeroError, warp, lane, instruction,
        "{thread} divides an integer by zero.",
        "A divisor was computed from a size or an index that can be 0.",
        "Test the divisor first; a GPU does not stop here, it goes on with a "
        "meaningless value.",
    )  # fmt: skip


def is_global(address: int) -> bool:
    """Whether a generic address is in global memory."""
    return GLOBAL_BASE <= address < (1 << 64) - NULL_SPAN


def misses(region: Region, offsets: np.ndarray, width: int) -> np.ndarray:
    """Return which offsets are out of bounds or misaligned for `width` bytes."""
    bad = (offsets & offsets.dtype.type(width - 1)) != 0
    if region.nbytes < width:
        return np.ones_like(bad)
    return bad | (offsets > region.nbytes - width)


def unsupported(program, instruction: Instruction, why: str = "") -> Exception:
    """Return the error for an instruction that the simulator lacks."""
    place, shown = source_place(program, instruction.location)
    where = f"\n  {shown}" if shown else ""
    return errors.UnsupportedError.explained(
        f"the simulator has no `{instruction.name}`{why}.{where}",
        f"PTX: {instruction.text}",
        "Run this kernel on a GPU, or write it without this instruction.",
    )
