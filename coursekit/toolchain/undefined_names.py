"""What to say about a name without a declaration: misspelt, Python's, too new."""

from __future__ import annotations

import difflib
import re

from coursekit.toolchain.cuda_source import code_only

_BUILTINS = (
    "__syncthreads", "__syncwarp", "__shfl_sync", "__shfl_up_sync",
    "__shfl_down_sync", "__shfl_xor_sync", "__ballot_sync", "__any_sync",
    "__all_sync", "__activemask", "__popc", "__ffs", "__ldg", "__threadfence",
    "__threadfence_block", "threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize",
    "atomicAdd", "atomicMax", "atomicMin", "atomicCAS", "atomicExch", "__shared__",
    "__device__", "__global__", "__constant__", "__restrict__", "__launch_bounds__",
    "printf", "sqrtf", "rsqrtf", "expf", "logf", "sinf", "cosf", "fmaxf", "fminf",
    "fabsf", "powf", "min", "max", "__expf", "assert", "__syncthreads_count",
    "__syncthreads_or", "__syncthreads_and", "__trap", "clock64",
)  # fmt: skip

_OF_PYTHON = {
    "True": "true",
    "False": "false",
    "None": "nullptr",
    "elif": "else if",
    "range": "for (int i = 0; i < n; i++)",
    "len": "a parameter such as n, since an array in C++ does not know its length",
    "abs": "fabsf(x) for a float",
    "math": "the function alone, as in sqrtf(x)",
    "np": "the function alone, as in sqrtf(x)",
}
# What CUDA declares only from a compute capability on.
_SINCE = {
    f"__reduce_{operation}_sync": "8.0"
    for operation in ("add", "min", "max", "and", "or", "xor")
}
_OF_A_WARP = re.compile(r"(?:warp|lane)_?(?:Id|Idx|ID|id|idx|Index)")
_ASSIGNED = re.compile(r"\w+\s*=(?!=)")
_SAME_WORD = 0.8  # of difflib's ratio; below it two names are only alike


def undefined(name: str, rest: str, text: str) -> tuple[str, str] | None:
    """Return the likely cause of an undefined name, and a cure; None for no idea.

    Parameters
    ----------
    name : str
    rest : str
        The line from the name on.
    text : str
        The whole source.
    """
    if name in _OF_PYTHON:
        return f"{name} is Python, not C++.", f"Write {_OF_PYTHON[name]}."
    if since := _SINCE.get(name):
        digits = since.replace(".", "")
        return (
            f"{name} is there from compute capability {since} on, and the kernel is "
            "compiled for an older one.",
            f'Compile with arch="compute_{digits}" or later, or write another way for '
            f"older ones, behind #if __CUDA_ARCH__ >= {digits}0 and #else.",
        )
    if _OF_A_WARP.fullmatch(name) and not _ASSIGNED.match(rest):
        return (
            f"CUDA has no variable {name}: a kernel computes warps and lanes itself.",
            "Compute it from threadIdx.",
        )
    words = set(re.findall(r"[A-Za-z_]\w{2,}", code_only(text))) - {name}
    known = [*_BUILTINS, *sorted(words)]
    if _ASSIGNED.match(rest) and not difflib.get_close_matches(
        name, known, n=1, cutoff=_SAME_WORD
    ):
        return (
            f"{name} is not declared: in C++ a variable gets its type where it is "
            "first named.",
            f"Write the type once: float {name} = ...; or int {name} = ...;",
        )
    near = difflib.get_close_matches(name, known, n=1)
    if not near:
        return None
    cause = "The name is misspelt, or declared later, or lives in a header."
    return cause, f"Did you mean {near[0]}?"
