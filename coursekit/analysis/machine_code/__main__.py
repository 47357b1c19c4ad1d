"""`make sass`: write the plans of the course's kernels to `assets/sass/`."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from pathlib import Path

from coursekit import paths
from coursekit.analysis.machine_code import plans, shipped
from coursekit.runtime.compiler import compile

ARCHITECTURE = "sm_90"
_NOT_COUNTED = {"broken", "exercises", "programs", "solutions"}
# What is for one architecture alone has no machine code for this one.
_SPECIAL = re.compile(r"^// needs: sm_\d+[af]$", re.MULTILINE)


def course_kernels() -> list[Path]:
    """The kernel files that are counted in the course."""
    root = paths.kernels()
    return [
        path
        for path in sorted(root.rglob("*.cu"))
        if path.relative_to(root).parts[0] not in _NOT_COUNTED
        and not _SPECIAL.search(path.read_text(encoding="utf-8"))
    ]


def content_of(path: Path) -> dict | None:
    """What is shipped for a kernel file; None if it uses no shared memory."""
    module = compile(path)
    kernels = [module[name] for name in module.kernels]
    found = {k.lowered_name: (k, plans.shared_accesses(k)) for k in kernels}
    made = {
        name: plans.reconcile(kernel, ARCHITECTURE, used)
        for name, (kernel, used) in found.items()
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


def source_hash(module) -> str:
    """SHA-256 of a module's own files."""
    texts = json.dumps(sorted(module.sources.items()))
    return hashlib.sha256(texts.encode()).hexdigest()


def main() -> None:
    """Write every plan that is new, and remove those of kernels that are gone."""
    wanted = {}
    for path in course_kernels():
        content = content_of(path)
        if content is not None:
            wanted[shipped.file_of(path)] = json.dumps(content, indent=1) + "\n"
    for old in set(shipped.folder().rglob("*.json")) - wanted.keys():
        old.unlink()
    for file, text in wanted.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    sys.stdout.write(f"{len(wanted)} kernel files use shared memory.\n")


if __name__ == "__main__":
    main()
