"""How doctor names folders."""

from pathlib import Path

import pytest

from coursekit.runtime.doctor import places as names


@pytest.fixture
def places(tmp_path, monkeypatch):
    """A course, a home and a current folder of this test; no variables set."""
    for name in names.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name in ("course", "home", "here"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(names, "course", lambda: tmp_path / "course")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path


SHOWN = {
    "course": ("course/.venv/bin/x", ".venv/bin/x"),
    "current folder": ("here/a/b.cu", "a/b.cu"),
    "home": ("home/.cache/coursekit", "~/.cache/coursekit"),
    "home itself": ("home", "~"),
    "current folder itself": ("here", "."),
    "variable": ("elsewhere/cache/x", "$COURSEKIT_CACHE/x"),
}


@pytest.mark.parametrize(("path", "shown"), SHOWN.values(), ids=SHOWN)
def test_folder_is_named_as_one_would_type_it(places, monkeypatch, path, shown):
    monkeypatch.setenv("COURSEKIT_CACHE", str(places / "elsewhere" / "cache"))
    assert names.shown(places / path) == shown


def test_folder_of_the_system_is_named_in_full(places):
    assert names.shown(Path("/usr/include/x.h")) == "/usr/include/x.h"


def test_course_in_the_home_folder_is_nearer(places, monkeypatch):
    course = places / "home" / "course"
    monkeypatch.setattr(names, "course", lambda: course)
    assert names.shown(course / "kernels") == "kernels"
