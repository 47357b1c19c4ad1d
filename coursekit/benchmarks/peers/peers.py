"""Cases of CUB and of PyTorch, for machines that have these libraries."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import coursekit as ck
from coursekit import paths
from coursekit.benchmarking.timed_cases import Returned
from coursekit.errors import CompileError, LaunchError

SOURCE = Path(__file__).with_name("cub_peers.cu")
Case = Callable[..., object]

# ---------------------------------------------------------------- CUB


def cub(function: str) -> Case | None:
    """Return one of the functions of `cub_peers.cu`, None where nvcc is absent.

    It is called as ``case(x, out, n)``; CUB's temporary storage is reserved at the
    first call of a size.
    """
    library = _library()
    if library is None:
        return None
    entry = getattr(library, f"cub_{function}")
    storage: dict[int, tuple] = {}

    def call(place, size, x, out, n: int) -> None:
        pointers = (ctypes.c_void_p(array.address) for array in (x, out))
        stream = ctypes.c_void_p(_stream())
        if status := entry(place, ctypes.byref(size), *pointers, n, stream):
            raise LaunchError.explained(
                f"CUB's {function} of {n:,} elements returns the CUDA error {status}.",
                "The device has too little memory, or an earlier launch failed.",
                "Take a smaller size, or restart Python.",
            )

    def case(x, out, n: int) -> None:
        if n not in storage:
            size = ctypes.c_size_t()
            call(None, size, x, out, n)
            storage[n] = size, ck.empty(max(size.value, 1), "uint8")
        size, held = storage[n]
        call(ctypes.c_void_p(held.address), size, x, out, n)

    return case


@functools.cache
def _library() -> ctypes.CDLL | None:
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        return None
    major, minor = ck.device().compute_capability
    options = ("-O3", "-shared", "-Xcompiler", "-fPIC", f"-arch=sm_{major}{minor}")
    version = subprocess.run([nvcc, "--version"], capture_output=True, check=True)
    parts = (SOURCE.read_bytes(), version.stdout, " ".join(options).encode())
    name = hashlib.sha256(b"\0".join(parts)).hexdigest()[:32]
    built = paths.cache() / "peers" / f"{name}.so"
    if not paths.is_own(built):
        _build(nvcc, options, built)
    return ctypes.CDLL(str(built))


def _build(nvcc: str, options: tuple[str, ...], target: Path) -> None:
    """Build the library beside its place, and move it there when it is whole."""
    paths.make_private(target.parent)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        built = Path(folder) / "peers.so"
        command = [nvcc, *options, "-o", str(built), str(SOURCE)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise CompileError.explained(
                f"nvcc refuses {SOURCE.name}: {done.stderr.strip()[:500]}",
                "CUB's headers belong to another toolkit, or g++ is missing.",
                "Install the whole CUDA toolkit, or take nvcc off the PATH: CUB is "
                "then left out.",
            )
        os.replace(built, target)


def _stream() -> int:
    import cupy

    return cupy.cuda.get_current_stream().ptr


# ---------------------------------------------------------------- PyTorch


def torch(
    function: Callable, *, compiled: bool = False, into: int | None = None
) -> Case | None:
    """Return a case that calls ``function(torch, *arguments)`` with CUDA tensors.

    Where the function returns its result in memory of its own, `into` is the position
    of the argument that gets it when results are compared, beside the timing.
    None where PyTorch sees no GPU, or where `compiled` is asked for and Triton, which
    torch.compile needs for GPUs, is not installed.
    """
    if not importlib.util.find_spec("torch"):
        return None
    import torch

    if not torch.cuda.is_available():
        return None
    if compiled and not importlib.util.find_spec("triton"):
        return None
    called = functools.partial(function, torch)
    if compiled:
        called = _by_size(torch, called)
    seen: dict[tuple, tuple] = {}

    def tensors(arguments: tuple) -> tuple:
        """Wrap arrays once: their memory stays where it is while a size is timed."""
        key = tuple(getattr(a, "address", a) for a in arguments)
        if key not in seen:
            seen.clear()
            seen[key] = tuple(
                torch.as_tensor(a, device="cuda") if hasattr(a, "address") else a
                for a in arguments
            )
        return seen[key]

    if into is None:
        return lambda *arguments: called(*tensors(arguments))
    return Returned(
        lambda *arguments: called(*tensors(arguments)),
        lambda result, *arguments: tensors(arguments)[into].copy_(result),
    )


def _by_size(torch, function: Callable) -> Callable:
    """Return a function that is compiled afresh for each size.

    torch.compile gives up after a few versions of one function, and would run it
    uncompiled from then on; here that is an error.
    """
    latest: dict[str, object] = {}

    def call(*tensors):
        size = tuple(getattr(argument, "shape", argument) for argument in tensors)
        if latest.get("size") != size:
            torch._dynamo.reset()
            config = torch._dynamo.config
            if hasattr(config, "fail_on_recompile_limit_hit"):
                config.fail_on_recompile_limit_hit = True
            latest.update(size=size, run=torch.compile(function, dynamic=False))
        latest["run"](*tensors)

    return call
