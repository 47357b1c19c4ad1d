"""A loaded program: parsed PTX, with its variables placed in memory."""

from __future__ import annotations

import copy
import functools
import hashlib
import threading

from coursekit import errors
from coursekit.simt.analysis.instructions import polls
from coursekit.simt.analysis.wide_accesses import SharedAccess, shared_accesses
from coursekit.simt.interpreter import refusals
from coursekit.simt.interpreter.decode import Code, Decoder
from coursekit.simt.memory.memory import Memory, Region
from coursekit.simt.ptx import parser
from coursekit.simt.ptx.ir import Call, Function, Symbol, Vector

STACK_BYTES = 16 << 10


class Program:
    """PTX text, its module variables in `memory`, and its decoded functions.

    Parameters
    ----------
    text : str
        PTX of any compiler.
    memory : Memory
        Where `__device__` and `__constant__` variables are placed.
    sources : mapping of str to str, optional
        Source text by file name, quoted in messages.
    """

    def __init__(self, text: str, memory: Memory, sources=None):
        self.module = _parsed(text)
        self.memory = memory
        self.sources = dict(sources or {})
        self.lock = threading.RLock()
        self.digest = hashlib.sha256(text.encode()).hexdigest()
        self.compiled: dict[tuple, object] = {}
        self._reachable: dict[str, list[Function]] = {}
        self._shared: dict[str, list] = {}
        self._shared_accesses: dict[str, list[SharedAccess]] = {}
        self._polls: dict[str, bool] = {}
        self._code: dict[str, Code] = {}
        self._decoder = Decoder
        self._others: dict[type, Program] = {}
        self.variables: dict[str, Region] = {}
        self._place_variables()

    @property
    def kernels(self) -> tuple[str, ...]:
        """The names of the kernels."""
        return tuple(n for n, f in self.module.functions.items() if f.is_kernel)

    def kernel(self, name: str) -> Function:
        """Return a kernel by name."""
        function = self.module.functions.get(name)
        if function is None or not function.is_kernel:
            raise errors.UnknownNameError.explained(
                f"there is no kernel {name!r}.",
                f"The program has {', '.join(self.kernels) or 'no kernels'}.",
                "Check the spelling.",
            )
        return function

    def code(self, name: str) -> Code:
        """Return a decoded function, decoded at the first call."""
        with self.lock:
            if name not in self._code:
                function = self.module.functions[name]
                self._code[name] = self._decoder(self, function).decode()
            return self._code[name]

    def decoded_by(self, decoder) -> Program:
        """Return the same program in the same memory with another decoder."""
        again = copy.copy(self)
        again._code, again._others, again._decoder = {}, {}, decoder
        return again

    def decoded_once_by(self, decoder: type) -> Program:
        """Do as `decoded_by`, with a cache; the code must be reset."""
        if decoder not in self._others:
            self._others[decoder] = self.decoded_by(decoder)
        return self._others[decoder]

    def decoded(self) -> list[Code]:
        """All functions decoded so far."""
        return list(self._code.values())

    def _place_variables(self) -> None:
        placed = [
            v for v in self.module.variables.values() if v.space in ("global", "const")
        ]
        for variable in placed:
            region = self.memory.allocate(
                variable.nbytes, name=variable.name, space=variable.space
            )
            region.read_only = variable.space == "const"
            region.data[:] = 0
            if variable.initial is not None:
                initial = variable.initial
                region.data[: len(initial)] = memoryview(initial)
            self.variables[variable.name] = region
        for variable in placed:
            for offset, symbol, addend, size in variable.relocations:
                target = self.variables.get(symbol)
                address = (target.address if target else 0) + addend
                value = (address & ((1 << (8 * size)) - 1)).to_bytes(size, "little")
                region = self.variables[variable.name]
                region.data[offset : offset + size] = memoryview(value)

    def reachable(self, name: str) -> list[Function]:
        """Return a kernel and the functions that it calls, directly or not.

        Raises
        ------
        UnsupportedError
            For a function with instructions that cannot be run.
        """
        if name not in self._reachable:
            self._reachable[name] = self._search(name)
        return self._reachable[name]

    def _search(self, name: str) -> list[Function]:
        reached: dict[str, Function] = {}
        pending = [name]
        while pending:
            function = self.module.functions.get(pending.pop())
            if function is None or function.name in reached:
                continue
            refusals.check(self, function)
            reached[function.name] = function
            for instruction in function.instructions:
                for operand in instruction.operands:
                    if isinstance(operand, Call) and isinstance(
                        operand.function, Symbol
                    ):
                        pending.append(operand.function.name)
        return list(reached.values())

    def shared_variables(self, name: str, dynamic: int) -> list[tuple[str, int, int]]:
        """Return a kernel's shared variables: (name, nbytes, align).

        All external arrays are the same memory: the dynamic shared memory of the
        launch.
        """
        if name not in self._shared:
            functions = self.reachable(name)
            used = {s for f in functions for i in f.instructions for s in _symbols(i)}
            variables = [v for v in self.module.variables.values() if v.name in used]
            variables += [v for f in functions for v in f.variables.values()]
            self._shared[name] = [v for v in variables if v.space == "shared"]
        shared = self._shared[name]
        fixed = [(v.name, v.nbytes, v.align) for v in shared if not v.external]
        flexible = [(v.name, dynamic, max(v.align, 16)) for v in shared if v.external]
        return fixed + flexible

    def shared_accesses(self, name: str) -> list[SharedAccess]:
        """List a kernel's accesses to shared memory; the list is cached."""
        if name not in self._shared_accesses:
            variables = self.shared_variables(name, 0)
            self._shared_accesses[name] = shared_accesses(self.kernel(name), variables)
        return self._shared_accesses[name]

    def polls(self, name: str) -> bool:
        """Whether a kernel may wait for a write of another warp."""
        if name not in self._polls:
            self._polls[name] = any(
                polls(one) for f in self.reachable(name) for one in f.instructions
            )
        return self._polls[name]

    def local_bytes(self, name: str) -> int:
        """Return the local memory per thread; calls add a fixed stack."""
        functions = self.reachable(name)
        if len([f for f in functions if not f.external]) > 1:
            return STACK_BYTES
        return self.code(name).local_bytes


@functools.lru_cache(maxsize=32)
def _parsed(text: str):
    """Return the module of a text, which programs share: it has no run-time state."""
    return parser.parse(text)


def _symbols(instruction) -> set[str]:
    names = set()
    for operand in instruction.operands:
        members = operand.elements if isinstance(operand, Vector) else (operand,)
        for member in members:
            member = getattr(member, "base", member)
            if isinstance(member, Symbol):
                names.add(member.name)
    return names


def load(text: str, memory: Memory, sources=None) -> Program:
    """Parse PTX and place its variables."""
    return Program(text, memory, sources)
