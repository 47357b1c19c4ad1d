"""Compiles the kernels of kernels/libraries/ that need CUTLASS's headers to PTX.

`python tests/support/library_ptx.py` writes a .ptx beside each .cu, which
`ck.load_ptx` loads on machines without the headers. It needs nvcc and the package
nvidia-cutlass, `make setup EXTRAS=libraries`. The first line of a .ptx names the
source that it was made of, by a hash; a test compares it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

from cuda_compiler import nvcc

FOLDER = Path(__file__).resolve().parents[2] / "kernels" / "libraries"
FLAGS = ("-std=c++17", "-O3", "--expt-relaxed-constexpr", "-DKERNELS_ONLY")
MOST_BYTES = 300_000


def sources() -> list[Path]:
    """Return the files that CUTLASS's headers are needed for."""
    found = [*FOLDER.glob("cute_*.cu"), *FOLDER.glob("cutlass_*.cu")]
    return sorted(found)


def headers() -> Path | None:
    """Find the headers of CUTLASS in the package nvidia-cutlass."""
    found = importlib.util.find_spec("cutlass_library")
    for place in (found.submodule_search_locations or ()) if found else ():
        folder = Path(place) / "source" / "include"
        if folder.is_dir():
            return folder
    return None


def head(source: Path) -> str:
    """Return the first line of the PTX of a source."""
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    return f"// PTX of {source.name}, sha256 {digest[:16]}\n"


def compiled(source: Path, *flags: object) -> subprocess.CompletedProcess:
    """Run nvcc on a source."""
    command = [nvcc(), *FLAGS, f"-I{headers()}", *flags, source.name]
    return subprocess.run(
        [*map(str, command)],
        cwd=source.parent,
        capture_output=True,
        text=True,
        check=False,
    )


def plain(ptx: str) -> str:
    """Return PTX for drivers as old as CUDA 12.0, without spaces at ends of lines.

    What nvcc writes for these kernels needs nothing that PTX 8.0 lacks; ptxas tells in
    a test if that changes.
    """
    ptx = re.sub(r"^\.version .*", ".version 8.0", ptx, flags=re.MULTILINE)
    return "\n".join(line.rstrip() for line in ptx.strip("\n").split("\n")) + "\n"


def main() -> int:
    """Write the PTX of each source."""
    if nvcc() is None or headers() is None:
        print("needs nvcc and nvidia-cutlass: make setup EXTRAS=libraries")
        return 1
    for source in sources():
        target = source.with_suffix(".ptx")
        answer = compiled(source, "-ptx", "-arch=compute_90", "-o", target)
        if answer.returncode:
            print(answer.stderr[:2000])
            return 1
        target.write_text(head(source) + plain(target.read_text()))
        print(f"{target.name}: {target.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
