"""The checks of bulk copies: bounds, multiples of 16 bytes, and tensor maps."""

from __future__ import annotations

from coursekit.errors import ArgumentError, OutOfBoundsError
from coursekit.simt.interpreter.access import READS
from coursekit.simt.interpreter.transfers import reached
from coursekit.simt.memory import faults
from coursekit.simt.memory.tensor_maps import NBYTES, TensorMap

UNIT = 16  # bytes that a bulk copy moves whole


def find(memory, access, warp, lane: int, address: int, nbytes: int):
    """Return the region that has all bytes of one side of a copy.

    Raises
    ------
    OutOfBoundsError
        No array is there, or it ends before the copy does.
    """
    region = memory.find(address)
    offset = address - region.address if region else 0
    if region is None or region.freed or not 0 <= offset < region.nbytes:
        fault = faults.Fault(lane, address, nbytes, region)
        raise faults.access_error(warp, lane, access.instruction, fault, access.verb)
    if offset + nbytes > region.nbytes:
        name, way = name_of(region), "from" if access.verb == READS else "to"
        raise wrong(
            access, warp, lane,
            f"{{thread}} copies {nbytes} bytes {way} byte {offset} of {name}, but "
            f"{name} has {region.nbytes} bytes.",
            "The size of a bulk copy counts bytes, not elements; that of a box counts "
            "all of its rows.",
            f"Copy fewer bytes, or make {name} larger.",
        )  # fmt: skip
    return region


def find_shared(access, warp, lane: int, address: int, nbytes: int, align: int):
    """Return (region, offset) of the side of a copy that is in shared memory.

    Raises
    ------
    OutOfBoundsError
        No array has all the bytes, or they begin at no multiple of `align`.
    """
    region = find(warp.block.shared, access, warp, lane, address, nbytes)
    offset = address - region.address
    if address % align:
        way, ends = ("from", "begins") if access.verb == READS else ("to", "lands")
        raise wrong(
            access, warp, lane,
            f"{{thread}} copies {way} byte {offset} of {name_of(region)}, no multiple "
            f"of {align}.",
            f"A copy of this kind {ends} at multiples of {align} bytes.",
            f"Declare the array alignas({align}), and begin at such a place.",
        )  # fmt: skip
    return region, offset


def check_row(access, warp, lane: int, place: tuple, nbytes: int) -> None:
    """Refuse a row of bytes in global memory that is odd, or begins at an odd place."""
    region, offset = place
    if (region.address + offset) % UNIT or nbytes % UNIT or not nbytes:
        way = "from" if access.verb == READS else "to"
        raise wrong(
            access, warp, lane,
            f"{{thread}} copies {nbytes} bytes {way} byte {offset} of "
            f"{name_of(region)}.",
            f"A bulk copy moves a multiple of {UNIT} bytes, and begins at a multiple "
            f"of {UNIT} bytes.",
            f"Copy the rest by single {'loads' if way == 'from' else 'stores'}.",
        )  # fmt: skip


def wrong(access, warp, lane: int, what: str, cause: str, cure: str):
    """Build the error of a thread for a copy."""
    return faults.kernel_error(
        OutOfBoundsError, warp, lane, access.instruction, what, cause, cure
    )


def name_of(region) -> str:
    """Return what the source calls an array."""
    return faults.readable(region.name) or "an array"


class BoxOperand:
    """The operand of a tensor copy: a tensor map, and where in the array a box begins.

    Parameters
    ----------
    decoder : Decoder
    address, first
        The slot of the map's address with an offset, and the coordinates.
    """

    def __init__(self, decoder, address, first):
        self._map = address
        self._first = [decoder.layout.operand(one, "s32") for one in first.elements]

    def read(self, access, warp, lane: int) -> tuple[TensorMap, list[int]]:
        """Return a lane's tensor map and coordinates."""
        found = self._tensor_map(access, warp, int(reached(warp, *self._map)[lane]))
        if len(found.box) != len(self._first):
            raise wrong(
                access, warp, lane,
                f"{{thread}} names a place by {len(self._first)} numbers in an array "
                f"of {len(found.box)} axes.",
                "The copy and the tensor map are for arrays of different rank.",
                "Pass ck.tensor_map an array of that many axes.",
            )  # fmt: skip
        return found, [int(warp.slots[slot][lane]) for slot in self._first]

    def _tensor_map(self, access, warp, address: int) -> TensorMap:
        region = warp.block.launch.memory.find(address)
        offset = address - region.address if region else 0
        inside = region is not None and 0 <= offset <= region.nbytes - NBYTES
        data = region.data[offset : offset + NBYTES].tobytes() if inside else b""
        found = TensorMap.read(data) if inside else None
        if found is None:
            raise ArgumentError.explained(
                f"{access.instruction.text.strip()}: there is no tensor map at "
                f"{address:#x}.",
                "The parameter is not const __grid_constant__, so that the kernel "
                "passes a copy of it; or the argument is not from ck.tensor_map.",
                "Write const __grid_constant__ TensorMap, and pass ck.tensor_map(...).",
            )
        return found


def find_array(found: TensorMap, access, warp, lane: int, nbytes: int):
    """Return the region of the array that a tensor map describes."""
    region = warp.block.launch.memory.find(found.address)
    if region is None or region.freed:
        fault = faults.Fault(lane, found.address, nbytes, region)
        raise faults.access_error(warp, lane, access.instruction, fault, access.verb)
    return region
