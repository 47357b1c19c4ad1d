"""Progress survives several writers, damage and old formats; texts keep backups."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys

import pytest

from coursekit.errors import LaunchError
from coursekit.exercises import catalogue, saved, state, student
from coursekit.exercises.set_aside import set_aside, write

pytest_plugins = ("exercise_folder",)

TRY_OFTEN = """
from coursekit.exercises import state
for _ in range(20):
    state.update("{id}", lambda old: old.tried(False))
"""


def test_nothing_is_known_at_first(folder):
    assert state.read() == {}


def test_two_processes_that_write_at_once_lose_nothing(folder):
    running = [
        subprocess.Popen([sys.executable, "-c", TRY_OFTEN.format(id="42.1")])
        for _ in range(2)
    ]
    assert [each.wait(60) for each in running] == [0, 0]
    assert state.read()["42.1"].tries == 40


def test_first_solution_is_dated_once(folder):
    first = state.update("42.1", lambda old: old.tried(True)).solved
    assert state.update("42.1", lambda old: old.tried(True)).solved == first != ""


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[1]",
        b"null",
        b'{"schema": 2, "exercises": {}}',
        b'{"schema": 1}',
        b'{"schema": 1, "exercises": {"42.1": {"tries": "x"}}}',
        b'{"schema": 1, "exercises": {"42.1": {"unknown": 1}}}',
        b'{"schema": 1, "exercises": [1]}',
        b"[" * 200_000,
    ],
)
def test_damaged_file_is_set_aside_and_progress_starts_afresh(folder, content):
    folder.state.mkdir()
    state.file().write_bytes(content)
    state.update("42.1", lambda old: old.tried(False))
    kept = list(folder.state.glob("progress.damaged.*.json"))
    assert [path.read_bytes() for path in kept] == [content]
    assert state.read()["42.1"].tries == 1


@pytest.mark.parametrize("kind", ["pipe", "device", "huge"])
def test_what_is_no_file_of_progress_is_set_aside(folder, kind):
    folder.state.mkdir()
    if kind == "pipe":
        os.mkfifo(state.file())
    elif kind == "device":
        state.file().symlink_to("/dev/zero")
    else:
        state.file().touch()
        os.truncate(state.file(), 1 << 30)
    state.update("42.1", lambda old: old.tried(False))
    assert state.read()["42.1"].tries == 1


def test_lock_that_another_process_never_releases_does_not_stop_a_check(
    folder, monkeypatch
):
    monkeypatch.setattr(state, "TRIES", 3)
    folder.state.mkdir()
    with open(folder.state / "progress.lock", "a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        state.update("42.1", lambda old: old.tried(False))
    assert state.read()["42.1"].tries == 1


def test_folder_in_place_of_the_file_is_set_aside(folder):
    state.file().mkdir(parents=True)
    state.update("42.1", lambda old: old.tried(False))
    assert state.read()["42.1"].tries == 1
    assert [path.is_dir() for path in folder.state.glob("progress.damaged.*")] == [True]


def test_progress_that_may_not_be_read_is_an_error_of_the_course(folder, monkeypatch):
    refused = PermissionError(13, "Permission denied")
    monkeypatch.setattr(state, "_read", lambda: (_ for _ in ()).throw(refused))
    with pytest.raises(LaunchError, match="progress.json cannot be read: Permission"):
        student.progress()


def test_reset_keeps_a_text_that_is_not_utf_8(folder):
    entry = catalogue.find("42.1")
    write(saved.file(entry), "")
    saved.file(entry).write_bytes(b"// caf\xe9\n")
    assert saved.reset(entry).read_bytes() == b"// caf\xe9\n"


def test_file_is_json_that_people_can_read(folder):
    state.update("42.1", lambda old: old.hinted())
    stored = json.loads(state.file().read_text())
    assert stored["exercises"]["42.1"]["hints"] == 1


def test_no_temporary_file_is_left(folder):
    state.update("42.1", lambda old: old.hinted())
    names = {path.name for path in folder.state.iterdir()}
    assert names == {"progress.json", "progress.lock"}


def test_text_is_saved_below_the_work_folder(folder):
    path = saved.save(catalogue.find("42.1"), "text")
    assert path == folder.work / "exercises" / "42_tests" / "1_map.cu"


def test_reset_keeps_the_text_under_a_dated_name(folder):
    entry = catalogue.find("42.1")
    saved.save(entry, "mine")
    assert saved.reset(entry).read_text() == "mine\n"
    assert saved.file(entry).read_text() == entry.starter.read_text()


def test_reset_of_an_untouched_starter_keeps_no_copy(folder):
    entry = catalogue.find("42.1")
    saved.reset(entry)
    assert saved.reset(entry) is None


def test_files_set_aside_in_the_same_second_keep_apart(tmp_path):
    kept = set()
    for text in ("a", "b", "c"):
        write(tmp_path / "x.cu", text)
        kept.add(set_aside(tmp_path / "x.cu"))
    assert {path.read_text() for path in kept} == {"a", "b", "c"}
