"""Lock the newest versions, install and test them, and say which counts moved.

    .venv/bin/python upgrade_environment.py

`make upgrade` runs it. It changes requirements.lock, and the compiler's versions in
environment.yml, for you to commit. What pyproject.toml pins by hand stays as it is:
torch, what the GPU needs, the extras dsl and libraries, nbval.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent
LOCK = ROOT / "requirements.lock"
ENVIRONMENT = ROOT / "environment.yml"
SETUP = ROOT / "setup_environment.py"
PYTHON = ROOT / ".venv" / "bin" / "python"
COMPILE = (
    *("pip", "compile", "--quiet", "--upgrade", "--universal", "--generate-hashes"),
    *("--extra", "test", "--extra", "torch", "--no-emit-package", "torch"),
    *("--custom-compile-command", "make upgrade"),
    *("pyproject.toml", "--output-file", LOCK.name),
)


def versions(lock: str) -> dict[str, set[str]]:
    """Return the versions that a lock has of each package; some depend on Python."""
    found = {}
    for name, version in re.findall(r"^([\w.-]+)==([^\s;]+)", lock, re.MULTILINE):
        found.setdefault(name, set()).add(version)
    return found


def changes(before: str, after: str) -> list[str]:
    """Return a line for each package whose versions two locks have otherwise."""
    old, new = versions(before), versions(after)
    told = {
        name: [", ".join(sorted(lock.get(name, {"none"}))) for lock in (old, new)]
        for name in sorted(old.keys() | new.keys())
    }
    return [f"{name} {was} -> {now}" for name, (was, now) in told.items() if was != now]


def with_compiler(environment: str, lock: str) -> str:
    """Return environment.yml with the lock's versions of the CUDA compiler."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    locked = versions(lock)
    for name, conda in project["tool"]["coursekit"]["conda"].items():
        if name.startswith("nvidia-"):
            (version,) = locked[name]
            pattern = rf"^(  - {re.escape(conda)}==).*"
            environment = re.sub(pattern, rf"\g<1>{version}", environment, flags=re.M)
    return environment


def differences(before: dict, after: dict) -> list[str]:
    """Return a line for each count that moved, of kernels that both have counted."""
    return [
        f"{name}: {field} {was.get(field, 0):,} -> {now.get(field, 0):,}"
        for name, was, now in (
            (name, before[name], after[name])
            for name in sorted(before.keys() & after.keys())
        )
        for field in sorted(was.keys() | now.keys())
        if was.get(field, 0) != now.get(field, 0)
    ]


def run(*command: str | Path) -> int:
    """Run a command in the course's folder; return its exit status."""
    return subprocess.run(list(map(str, command)), cwd=ROOT).returncode


def main() -> int:
    """Upgrade; return the exit status of the tests."""
    if not PYTHON.with_name("uv").exists():
        print("upgrade: it needs uv, which `make setup` could not install here")
        return 1
    before = LOCK.read_text()
    if status := run(PYTHON.with_name("uv"), *COMPILE):
        return status
    after = LOCK.read_text()
    if after == before:
        print("upgrade: nothing is newer than requirements.lock")
        return 0
    ENVIRONMENT.write_text(with_compiler(ENVIRONMENT.read_text(), after))
    print("\n".join(["upgrade: newer are", *changes(before, after)]), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        counts = [Path(folder, name) for name in ("before.json", "after.json")]
        counting = PYTHON, "tests/support/kernel_counts.py"
        status = (
            run(*counting, counts[0])
            or run(sys.executable, "-I", SETUP)
            or run(*counting, counts[1])
        )
        if status:
            return status
        status = run("make", os.environ.get("TESTS", "test"))
        moved = differences(*(json.loads(path.read_text()) for path in counts))
    print("\n".join(["upgrade: counts that moved", *(moved or ["none"])]))
    print("upgrade: look at `git diff`, then commit it with what you adapt")
    return status


if __name__ == "__main__":
    sys.exit(main())
