"""The runtime library of compiled kernels, and the memory layouts that it uses.

`runtime.ll` holds the helpers as LLVM IR, with a sketch of each in C. They count
sectors and wavefronts by the rules of `coursekit.simt.memory.counters`, find the host
memory behind simulated addresses, and run the warps of a launch one after another.

A launch hands them one array of i64, the context (`Context`). It points to tables,
which have the dtypes below, and to one record for each warp of a block (`RECORD`, with
whatever a kernel adds after it). Addresses are unsigned; regions are sorted by theirs.

=========================== ======================================================
`ck_sectors`                 `counters.sectors`
`ck_atomic_sectors`          `counters.atomic_sectors`
`ck_wavefronts`              `counters.shared_wavefronts`; wavefronts in the low
                             half of the result, conflicts in the high one
`ck_atomic_wavefronts`       `counters.shared_atomic_wavefronts`
`ck_match_any`               which active lanes hold the same value
`ck_find`, `..._shared`      the region that holds some bytes, noted at a site
`ck_resolve`, `..._shared`   host addresses of the lanes, one region or several
`ck_run`                     the scheduler: blocks, rounds of warps, barriers
=========================== ======================================================
"""

from __future__ import annotations

from enum import IntEnum
from importlib import resources

import numpy as np

from coursekit.simt.memory.memory import address_of

FUNCTIONS = (
    "ck_sectors", "ck_atomic_sectors", "ck_wavefronts", "ck_atomic_wavefronts",
    "ck_match_any", "ck_find", "ck_find_shared", "ck_resolve", "ck_resolve_shared",
    "ck_run",
)  # fmt: skip


class Context(IntEnum):
    """Fields of the context: indices in an array of i64.

    The scheduler updates those from CTAID_X to POSITION. Fields of a kernel's own code
    begin at OWN.
    """

    REGIONS = 0  # to [REGION_COUNT x REGION]
    REGION_COUNT = 1
    SHARED_REGIONS = 2  # to [SHARED_COUNT x SHARED_REGION]
    SHARED_COUNT = 3
    SHARED_BASE = 4  # host address of byte 0 of shared memory
    SAVE = 5  # void(i64 region): called before the first write to a region
    TICK = 6  # i32(): called now and then; not 0 ends the run with that answer
    ARRANGE = 7  # void(), or 0: called before each round, may change ORDER
    SITES = 8  # to [.. x SITE]
    COUNTERS = 9  # to [.. x i64]
    PARAMS = 10  # to the kernel's parameters
    RECORDS = 11  # to [WARPS x RECORD_BYTES]
    RECORD_BYTES = 12
    WARPS = 13  # of a block
    THREADS = 14  # of a block
    ORDER = 15  # to [WARPS x i32]
    BLOCKS = 16  # to [.. x i64], linear indices of blocks
    FIRST = 17  # the run takes BLOCKS[FIRST:LAST]
    LAST = 18
    GRID_X = 19
    GRID_Y = 20
    GRID_Z = 21
    CTAID_X = 22
    CTAID_Y = 23
    CTAID_Z = 24
    LINEAR = 25  # index of the block
    MOST_EXECUTED = 26  # instructions of a warp; never reset here
    WAITING = 27  # threads at the barrier
    POSITION = 28  # of the block in BLOCKS
    LOCAL_BASE = 29  # host address of local memory
    LOCAL_BYTES = 30  # of one warp
    RESUMES = 31  # 1: block FIRST goes on where RESUME_AT says
    RESUME_AT = 33  # place in ORDER; -1: the block has not begun
    FUEL = 34  # blocks that warps may still repeat before the next TICK
    OWN = 40


class Answer(IntEnum):
    """The answer of a warp's code to the scheduler, and of `ck_run` to the launch.

    Any other answer of a warp's code ends the run with that answer.
    """

    DONE = 0  # the warp has left the kernel; the run is complete
    WAITS = 1  # at the barrier
    TO_GENERAL = 2  # go on in the general tier
    TO_FAST = 3
    GAVE_UP = 4  # warps wait that nothing will wake, or code is not up to it
    WANTS_GENERAL = 6  # compile the general tier, set RESUMES and FIRST, run again


class State(IntEnum):
    """The state of a warp, in its record."""

    READY, WAITS, DONE = range(3)


class Tier(IntEnum):
    """The tier whose code a warp runs next, in its record."""

    FAST, GENERAL = range(2)


READ_ONLY, SAVED = 1, 2  # bits of a region's flags

REGION = np.dtype(
    [("address", "<u8"), ("nbytes", "<u8"), ("host", "<u8"), ("flags", "<u8")]
)
SHARED_REGION = np.dtype([("address", "<u8"), ("nbytes", "<u8")])
# The region that an access last found: [first, end), host = address + distance. The
# fourth word pads; a new site must not match any address, hence `new_sites`.
SITE = np.dtype(
    [("first", "<u8"), ("end", "<u8"), ("distance", "<i8"), ("unused", "<u8")]
)
# What the scheduler knows of a warp; records lie RECORD_BYTES apart, on multiples of 8.
# It sets all but the last two when a block begins, and `state` and `tier` afterwards.
RECORD = np.dtype(
    [
        ("state", "<i4"),
        ("tier", "<i4"),
        ("resume", "<i4"),  # where the code goes on; 0 is the start
        ("mask", "<u4"),  # lanes that run
        ("depth", "<i4"),  # of the general tier's stack
        ("live", "<u4"),  # lanes that have not left the kernel
        ("executed", "<i8"),  # instructions
        ("exist", "<u4"),  # lanes with a thread
        ("warp", "<i4"),  # number in the block
    ]
)


def text() -> str:
    """Return the helpers as LLVM IR."""
    source = resources.files("coursekit.simt.compiled").joinpath("runtime.ll")
    return source.read_text(encoding="utf-8")


def new_context() -> np.ndarray:
    """Return a context of zeros."""
    return np.zeros(64, np.int64)


def new_sites(count: int) -> np.ndarray:
    """Return sites that match no address yet."""
    sites = np.zeros(count, SITE)
    sites["first"] = np.iinfo(np.uint64).max
    return sites


def aligned(shape, dtype, boundary: int = 64) -> np.ndarray:
    """Return an array of zeros whose address is a multiple of `boundary` bytes."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    space = np.zeros(size + boundary, np.uint8)
    start = -address_of(space) % boundary
    return space[start : start + size].view(dtype).reshape(shape)


def offset(field: str) -> int:
    """Return the byte offset of a field of a record."""
    return RECORD.fields[field][1]
