"""The key of cached machine code changes with every source that can change a result."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from coursekit import simt
from coursekit.simt.compiled import machine

SIMULATOR = Path(simt.__file__).parent
SOURCES = sorted(
    path.relative_to(SIMULATOR).as_posix()
    for path in SIMULATOR.rglob("*")
    if path.suffix in (".py", ".ll")
)


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """Return a copy of the simulator's sources."""
    folder = tmp_path_factory.mktemp("copy") / "simt"
    return Path(shutil.copytree(SIMULATOR, folder))


@pytest.mark.parametrize("source", SOURCES)
def test_the_key_changes_with_each_source(copy, source):
    file, before = copy / source, machine.sources_digest(copy)
    text = file.read_bytes()
    file.write_bytes(text + b"\n")
    assert machine.sources_digest(copy) != before
    file.write_bytes(text)


def test_the_key_changes_with_the_name_of_a_source(copy):
    before = machine.sources_digest(copy)
    (copy / "face.py").rename(copy / "front.py")
    changed = machine.sources_digest(copy)
    (copy / "front.py").rename(copy / "face.py")
    assert changed != before


def test_the_key_is_that_of_the_sources_that_run(copy):
    assert machine.sources_digest() == machine.sources_digest(copy)


def test_the_key_of_machine_code_holds_the_sources(monkeypatch):
    before = machine.key_of("a kernel")
    machine._generator_digest.cache_clear()
    monkeypatch.setattr(machine, "sources_digest", lambda: "others")
    changed = machine.key_of("a kernel")
    machine._generator_digest.cache_clear()
    assert changed != before
