"""What to say about a header that is not found, and about names that a header has."""

from __future__ import annotations

import difflib
import re
from pathlib import Path, PurePosixPath

from coursekit import paths
from coursekit.toolchain import headers, nvrtc

_OF_THE_HOST = (
    "belongs to a library that the host calls; only the GPU's code is compiled here.",
    "Remove the #include, and call the library from Python, for example by torch.",
)
# (pattern of a header's name, cause, cure); the first that fits the whole name counts.
_HOST_HEADERS = (
    (
        r"iostream|[io]stream|fstream|sstream|iomanip|format|print",
        "is a header of the host's library: the GPU has no streams such as std::cout.",
        "Remove the #include, and print with printf, which needs none.",
    ),
    (
        r"vector|string|string_view|map|unordered_map|set|unordered_set|list|deque|"
        r"queue|stack|memory|regex",
        "is a header of the host's library: its containers allocate memory there; a "
        "kernel works on plain arrays.",
        "Remove the #include; pass arrays from Python as pointers and sizes.",
    ),
    (
        r"chrono|thread|mutex|future|random|filesystem|stdexcept|exception|ctype\.h|"
        r"cctype|cerrno|errno\.h|csignal|condition_variable|locale|unistd\.h|"
        r"sys/time\.h|windows\.h",
        "is a header of the host's library; only the GPU's code is compiled here.",
        "Remove the #include; files, times and random numbers are Python's part.",
    ),
    (
        r"helper_\w+\.h",
        "comes with NVIDIA's samples, not with CUDA.",
        "Remove the #include; the cuda... calls that it checks are not needed here.",
    ),
    (
        r"curand\w*\.h",
        "belongs to cuRAND, a library that an extra of the course installs.",
        "Run `make setup EXTRAS=libraries`; or remove the #include, and pass random "
        "numbers from Python.",
    ),
    (
        r"(?:cu(?:blas|fft|sparse|solver|dnn)|nccl|npp|nvml|omp|mpi)\w*\.h",
        *_OF_THE_HOST,
    ),
)
_MORE = {
    "algorithm": " min(a, b) and max(a, b) need no #include.",
    "limits": " FLT_MAX is in <float.h>, INT_MAX in <limits.h>.",
}

# Names, and the header that has them.
_HEADER_OF = {
    r"(?:__)?half2?|__\w*half\w*|__h(?:add|mul|fma)\w*": "<cuda_fp16.h>",
    r"(?:__)?nv_bfloat16\w*|__nv_bfloat16\w*|__\w*bfloat16\w*": "<cuda_bf16.h>",
    r"nvcuda|wmma": "<mma.h>",
    r"u?int(?:_fast|_least)?(?:8|16|32|64)_t|u?int(?:ptr|max)_t|"
    r"U?INT(?:_FAST|_LEAST)?(?:8|16|32|64)_M(?:IN|AX)|U?INT(?:PTR|MAX)_M(?:IN|AX)|"
    r"SIZE_MAX|PTRDIFF_M(?:IN|AX)": "<stdint.h>",
    r"(?:FLT|DBL)_\w+": "<float.h>",
    r"offsetof|nullptr_t": "<stddef.h>",
    r"CUDART_\w+": "<math_constants.h>",
    r"cooperative_groups|cg": "<cooperative_groups.h>",
}
_IN_STD = {
    r"u?int\w*_t": "<cstdint>",
    r"memcpy|memset": "<cstring>",
    r"printf": "<cstdio>",
    r"clock|clock_t": "<ctime>",
}


def header_advice(name: str) -> tuple[str, str]:
    """Return cause and cure for a header that cannot be opened."""
    for pattern, cause, cure in _HOST_HEADERS:
        if re.fullmatch(pattern, name):
            return f"<{name}> {cause}", cure
    if _in_cuda_std(name):
        return (
            f"<{name}> is a header of the host's library; <cuda/std/{name}> is the one "
            "for the GPU.",
            f"Write #include <cuda/std/{name}>, and cuda::std:: instead of std::; or "
            f"remove the #include.{_MORE.get(name, '')}",
        )
    if (near := _near(name)) is not None:
        return _NEITHER, f"Did you mean {near}?"
    if "." not in name and "/" not in name:
        return (
            f"<{name}> is a header of the host's library; only the GPU's code is "
            "compiled here.",
            "Remove the #include, and what needs it.",
        )
    ours = headers.names() - {"cuda.h"}
    plain = sorted(header for header in ours if re.fullmatch(r"\w+\.h", header))
    return (
        _NEITHER,
        "Check the name in #include; a header of your own goes beside the file. Of "
        f"C's headers there are {', '.join(f'<{n}>' for n in plain)}.",
    )


_NEITHER = "The header is neither beside this file, nor below kernels/, nor CUDA's."


def library_advice(file: str) -> tuple[str, str] | None:
    """Return cause and cure for an error within the header of a library of the host.

    Where such a library is installed its header is found, and then refused.
    """
    name = PurePosixPath(file).name
    pattern, *_ = _HOST_HEADERS[-1]
    return header_advice(name) if re.fullmatch(pattern, name) else None


def header_of(name: str) -> str | None:
    """Return the header that declares a name, as #include writes it."""
    fitting = (h for pattern, h in _HEADER_OF.items() if re.fullmatch(pattern, name))
    return next(fitting, None)


def std_advice(member: str) -> str | None:
    """Return a cure for a name that is looked for in std, where there is one."""
    if member in ("min", "max"):
        return f"Write {member}(a, b) without std::: CUDA has it built in."
    if member == "numeric_limits":
        return (
            "Write FLT_MAX or INT_MAX, from <float.h> and <limits.h>; or "
            "cuda::std::numeric_limits, from <cuda/std/limits>."
        )
    if re.fullmatch(r"cout|cerr|endl|clog", member):
        return "Print with printf, which needs no #include."
    for pattern, header in _IN_STD.items():
        if re.fullmatch(pattern, member):
            return f"Write #include {header} at the top."
    return None


def _near(name: str) -> str | None:
    """Return a header whose name is nearly this one, as #include writes it."""
    ours = headers.names() | {
        path.name
        for folder in nvrtc.include_folders()
        for path in Path(folder).glob("*.h")
    }
    own = {path.name for path in paths.kernels().rglob("*.cuh")}
    base = PurePosixPath(name).name
    found = difflib.get_close_matches(base, sorted(ours | own), n=1, cutoff=0.85)
    if not found or found[0] == base:
        return None
    return f'"{found[0]}"' if found[0] in own else f"<{found[0]}>"


def _in_cuda_std(name: str) -> bool:
    folders = (Path(folder) for folder in nvrtc.include_folders())
    return any((folder / "cuda" / "std" / name).is_file() for folder in folders)
