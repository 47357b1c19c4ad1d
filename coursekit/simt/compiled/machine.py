"""LLVM: compile IR to machine code of this computer, cached on disk."""

from __future__ import annotations

import base64
import ctypes
import functools
import hashlib
import threading
from dataclasses import dataclass
from pathlib import Path

import llvmlite.binding as llvm

from coursekit.simt.compiled import runtime

_LOCK = threading.RLock()
OPTIMIZED, PLAIN = 2, 0  # levels of LLVM


@dataclass(frozen=True)
class Loaded:
    """Machine code in memory: the address of its function, and its notes."""

    address: int
    notes: dict
    engine: object


def _new_target_machine(level: int = OPTIMIZED):
    """Return LLVM's description of this computer, for an engine to own."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=level,
        jit=True,
    )


@functools.cache
def _target_machine(level: int):
    """Return the description of this computer that compiling to a level uses."""
    return _new_target_machine(level)


_SIMULATOR = Path(__file__).parents[1]


def sources_digest(folder: Path = _SIMULATOR) -> str:
    """Return a digest of every source of the simulator: each may change a result."""
    digest = hashlib.sha256()
    for path in sorted([*folder.rglob("*.py"), *folder.rglob("*.ll")]):
        digest.update(f"{path.relative_to(folder)}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


@functools.cache
def _generator_digest() -> str:
    """Return a digest of the code generator and of its environment."""
    digest = hashlib.sha256(sources_digest().encode())
    digest.update(llvm.get_host_cpu_name().encode())
    digest.update(llvm.get_host_cpu_features().flatten().encode())
    digest.update(repr(llvm.llvm_version_info).encode())
    return digest.hexdigest()


def key_of(*parts) -> str:
    """Return the key under which machine code is cached."""
    digest = hashlib.sha256(_generator_digest().encode())
    digest.update(repr(parts).encode())
    return digest.hexdigest()


def compile_text(text: str, level: int = OPTIMIZED) -> bytes:
    """Compile a module of LLVM IR to an object file, optimized to a level of 0 to 3."""
    module = llvm.parse_assembly(text)
    module.verify()
    machine = _target_machine(level)
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    options = llvm.create_pipeline_tuning_options(speed_level=level)
    options.loop_vectorization = options.slp_vectorization = False
    options.loop_unrolling = options.loop_interleaving = False
    passes = llvm.create_pass_builder(machine, options)
    passes.getModulePassManager().run(module, passes)
    return machine.emit_object(module)


def load_object(data: bytes, function: str) -> tuple[int, object]:
    """Load an object file; return its function's address, and what keeps it loaded."""
    with _LOCK:
        _load_runtime()
        return _load(data, function)


def _load(data: bytes, function: str) -> tuple[int, object]:
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _new_target_machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(data))
    engine.finalize_object()
    return engine.get_function_address(function), engine


_RUNTIME: dict[str, object] = {}


def _load_runtime() -> None:
    """Make the helpers of `runtime.ll` available to code that calls them."""
    if _RUNTIME:
        return
    helpers = key_of("runtime")
    data, _ = cached(helpers, lambda: (compile_text(runtime.text()), {}), fields={})
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _new_target_machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(data))
    engine.finalize_object()
    for name in runtime.FUNCTIONS:
        llvm.add_symbol(name, engine.get_function_address(name))
        _RUNTIME[name] = engine.get_function_address(name)
    _RUNTIME["engine"] = engine


def runtime_address(name: str) -> int:
    """Return the address of a helper."""
    with _LOCK:
        _load_runtime()
        return _RUNTIME[name]


@functools.cache
def runner():
    """Return the scheduler as a Python callable: (context, fast, general) -> int."""
    kind = ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_void_p] * 3)
    return kind(runtime_address("ck_run"))


# -- the cache on disk -----------------------------------------------------------------

_CACHE: list = [None]
_OBJECT = "object"  # the field of an entry that has the object file
# The notes of a kernel's tier, with their types.
_NOTES = {
    "record_bytes": int, "sites": int, "symbols": list, "counters": int, "fixed": list,
}  # fmt: skip


def use_cache(find) -> None:
    """Set the function that returns the cache; None for no cache."""
    _CACHE[0] = find


def _cache():
    return _CACHE[0]() if _CACHE[0] else None


def stored(key: str, fields: dict[str, type] = _NOTES) -> tuple[bytes, dict] | None:
    """Return an object file and its notes, `fields`, from the cache."""
    cache = _cache()
    notes = cache.get(key, {_OBJECT: str, **fields}) if cache else None
    if notes is None:
        return None
    try:
        return base64.b64decode(notes.pop(_OBJECT), validate=True), notes
    except ValueError:
        return None


def cached(key: str, make, fields: dict[str, type] = _NOTES) -> tuple[bytes, dict]:
    """Return an object file and its notes, compiled if they are not cached."""
    found = stored(key, fields)
    if found is not None:
        return found
    data, notes = make()
    cache = _cache()
    if cache:
        cache.put(key, notes | {_OBJECT: base64.b64encode(data).decode()})
    return data, notes
