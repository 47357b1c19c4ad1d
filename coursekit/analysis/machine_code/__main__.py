"""`make sass` writes the counting plans of the course's kernels to `assets/sass/`."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coursekit import paths
from coursekit.analysis.machine_code import plans, shipped
from coursekit.runtime.compiler import compile

if TYPE_CHECKING:
    from coursekit.runtime.protocols import CompiledModule

ARCHITECTURE = "sm_90"
_NOT_COUNTED = {"broken", "exercises", "libraries", "programs", "solutions"}
# A kernel for one architecture alone has no machine code for ARCHITECTURE.
_SPECIAL = re.compile(r"^// needs: sm_\d+[af]$", re.MULTILINE)


def course_kernels() -> list[Path]:
    """List the kernel files whose launches the course counts."""
    root = paths.kernels()
    return [
        path
        for path in sorted(root.rglob("*.cu"))
        if path.relative_to(root).parts[0] not in _NOT_COUNTED
        and not _SPECIAL.search(path.read_text(encoding="utf-8"))
    ]


def content_of(path: Path) -> dict[str, Any] | None:
    """Return what is shipped for a kernel file; None if it uses no shared memory."""
    module = compile(path)
    kernels = [module[name] for name in module.kernels]
    accesses = {k.lowered_name: (k, plans.shared_accesses(k)) for k in kernels}
    made = {
        name: plans.reconcile(kernel, ARCHITECTURE, used)
        for name, (kernel, used) in accesses.items()
        if used
    }
    if not made:
        return None
    return {
        "architecture": ARCHITECTURE,
        "source_sha256": source_hash(module),
        "ptx_sha256": shipped.ptx_hash(module.ptx),
        "kernels": made,
    }


def source_hash(module: CompiledModule) -> str:
    """Return the SHA-256 of the text of a module's own files."""
    texts = json.dumps(sorted(module.sources.items()))
    return hashlib.sha256(texts.encode()).hexdigest()


def main() -> None:
    """Write the plans of all kernels, and remove those of kernels that are gone."""
    plans_of: dict[Path, str] = {}
    for path in course_kernels():
        content, file = content_of(path), shipped.file_of(path)
        if content is not None and file is not None:
            plans_of[file] = json.dumps(content, indent=1) + "\n"
    for old in set(shipped.folder().rglob("*.json")) - plans_of.keys():
        old.unlink()
    for file, text in plans_of.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    sys.stdout.write(f"{len(plans_of)} kernel files use shared memory.\n")


if __name__ == "__main__":
    main()
