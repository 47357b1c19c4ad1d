"""Resources of a kernel, read from its machine code.

A cubin is an ELF file. Its `.nv.info` sections hold registers, stack and thread
limits; section sizes give shared and constant memory. Spills stand only in the
assembler's report (`--ptxas-options=-v`).

Source: CUDA Binary Utilities manual, and the section dumps of nvdisasm 13.5
(EIATTR names); the values agree with the report of ptxas -v.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from coursekit.errors import CourseError

_REGISTERS, _FRAME, _STACK, _MAX_THREADS, _BARRIERS = 0x2F, 0x11, 0x12, 0x05, 0x4C
_WORD_VALUE, _BYTE_VALUE = 4, 2
SYSTEM_SHARED_BYTES = 1024  # the first KiB of a block's shared memory, sm_90 on
_SHARED_IN_SECTION_FROM = 90
REGISTERS_PER_BLOCK = 65536
_REGISTER_UNIT, _WARP_UNIT = 256, 4  # allocation granularity: registers, warps


class NotACubin(CourseError):
    """The bytes are not machine code for a GPU."""


@dataclass(frozen=True, slots=True)
class Resources:
    """The registers, memory and barriers that one kernel needs.

    Attributes
    ----------
    registers : int
        Registers of a thread.
    shared_bytes : int
        Shared memory declared in the kernel, of a block.
    local_bytes : int
        Stack frame of a thread: arrays that found no place in registers.
    stack_bytes : int
        The frame with those of the functions it calls.
    constant_bytes : int
        `__constant__` variables of the module.
    barriers : int
        Hardware barriers.
    spill_store_bytes, spill_load_bytes : int
        Bytes that instructions move because registers ran out, of a thread.
    max_threads : int
        Threads a block may have: by `__launch_bounds__`, and by the registers.
    """

    registers: int
    shared_bytes: int
    local_bytes: int
    stack_bytes: int
    constant_bytes: int
    barriers: int
    spill_store_bytes: int
    spill_load_bytes: int
    max_threads: int


def resources(cubin: bytes, report: str, number: int) -> dict[str, Resources]:
    """Read the resources of every kernel of a cubin.

    Parameters
    ----------
    cubin : bytes
        An ELF file of machine code.
    report : str
        The output of ptxas -v, for the spills.
    number : int
        Compute capability times ten.

    Returns
    -------
    dict of str to Resources
        Resources of each kernel, by mangled name.
    """
    elf = _Elf(cubin)
    symbols = elf.symbols()
    shared_base = SYSTEM_SHARED_BYTES if number >= _SHARED_IN_SECTION_FROM else 0
    general: dict[tuple[int, str], int] = {}
    for attribute, value in _attributes(elf.content(".nv.info")):
        if attribute in (_REGISTERS, _FRAME, _STACK):
            symbol, amount = struct.unpack("<II", value)
            general[attribute, symbols[symbol]] = amount
    constant = elf.size(".nv.constant3")
    needs = {}
    for name in elf.names(".nv.info."):
        own = dict(_attributes(elf.content(f".nv.info.{name}")))
        registers = general.get((_REGISTERS, name), 0)
        stores, loads = _spills(report, name)
        needs[name] = Resources(
            registers=registers,
            shared_bytes=max(0, elf.size(f".nv.shared.{name}") - shared_base),
            local_bytes=general.get((_FRAME, name), 0),
            stack_bytes=general.get((_STACK, name), 0),
            constant_bytes=constant,
            barriers=own.get(_BARRIERS, b"\0")[0],
            spill_store_bytes=stores,
            spill_load_bytes=loads,
            max_threads=_max_threads(registers, own.get(_MAX_THREADS)),
        )
    return needs


def _max_threads(registers: int, bounds: bytes | None) -> int:
    """Return the largest block whose warps all get their registers."""
    per_warp = -(-max(registers, 1) * 32 // _REGISTER_UNIT) * _REGISTER_UNIT
    warps = REGISTERS_PER_BLOCK // per_warp // _WARP_UNIT * _WARP_UNIT
    declared = 1024
    if bounds:
        x, y, z = struct.unpack("<III", bounds)
        declared = x * y * z
    return min(1024, declared, 32 * warps)


def _spills(report: str, name: str) -> tuple[int, int]:
    found = re.search(
        rf"Function properties for {re.escape(name)}\n"
        r".*?(\d+) bytes spill stores, (\d+) bytes spill loads",
        report,
    )
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _attributes(section: bytes) -> Iterator[tuple[int, bytes]]:
    """Return attribute numbers and values of an `.nv.info` section."""
    at = 0
    while at + 4 <= len(section):
        form, attribute, size = struct.unpack_from("<BBH", section, at)
        at += 4
        if form == _WORD_VALUE:
            yield attribute, section[at : at + size]
            at += size
        else:
            width = 1 if form == _BYTE_VALUE else 2
            yield attribute, size.to_bytes(2, "little")[:width]


class _Elf:
    """Sections of a 64-bit little-endian ELF file, by name."""

    def __init__(self, data: bytes):
        if data[:6] != b"\x7fELF\x02\x01" or len(data) < 64:
            raise NotACubin.explained(
                "These bytes are not a cubin.",
                "They do not begin as an ELF file does.",
                "Take module.cubin().",
            )
        self.data = data
        (start,) = struct.unpack_from("<Q", data, 40)
        size, count, names = struct.unpack_from("<HHH", data, 58)
        headers = [
            struct.unpack_from("<IIQQQQIIQQ", data, start + i * size)
            for i in range(count)
        ]
        strings = headers[names][4]
        self.sections = {self._string(strings + head[0]): head for head in headers}

    def _string(self, at: int) -> str:
        return self.data[at : self.data.index(b"\0", at)].decode()

    def size(self, name: str) -> int:
        section = self.sections.get(name)
        return section[5] if section else 0

    def content(self, name: str) -> bytes:
        section = self.sections.get(name)
        return self.data[section[4] : section[4] + section[5]] if section else b""

    def names(self, prefix: str) -> list[str]:
        """Return the kernels with a section of this prefix and a `.text` section."""
        rests = [n.removeprefix(prefix) for n in self.sections if n.startswith(prefix)]
        return [name for name in rests if f".text.{name}" in self.sections]

    def symbols(self) -> list[str]:
        table, strings = self.content(".symtab"), self.sections[".strtab"][4]
        return [
            self._string(strings + s[0]) for s in struct.iter_unpack("<IBBHQQ", table)
        ]
