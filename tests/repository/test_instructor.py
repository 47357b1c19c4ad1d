"""instructor.md: its minutes, mistakes, points and commands are the course's."""

from __future__ import annotations

import re
import shlex

import instructor_schedules
import pytest

from coursekit import __main__
from coursekit.exercises import catalogue
from coursekit.exercises.grading.points import STAGES

PAGE = instructor_schedules.PAGE.read_text(encoding="utf-8")
MISTAKES = re.findall(r"^\| (\d\d\.\w+) \| (.+?) \| .+? \|$", PAGE, re.M)
COMMANDS = re.findall(r"^\.venv/bin/python -m coursekit (.+)$", PAGE, re.M)


def test_minutes_are_those_of_the_chapters():
    assert instructor_schedules.with_minutes(PAGE) == PAGE, "run `make chapters`"


@pytest.mark.parametrize("schedule", range(PAGE.count("| When |")))
def test_each_schedule_sums_up_its_rows(schedule):
    part = PAGE.split("| When |")[1:][schedule]
    *rows, total = re.findall(r"^\| [^|]+ \| (\d\d.*?) \| (\d+) \|$", part, re.M)
    assert total == (
        ", ".join(chapters for chapters, _ in rows),
        str(sum(int(minutes) for _, minutes in rows)),
    )


@pytest.mark.parametrize(("id", "mistake"), MISTAKES)
def test_mistake_is_one_that_the_check_recognises(id, mistake):
    mutants = catalogue.find(id).exercise.mutants.values()
    assert mistake in {mutant.mistake for mutant in mutants}


def test_points_are_those_of_the_command():
    rows = re.findall(r"^\| ([a-z ]+) \| (\d+) \| (.+) \|$", PAGE, re.M)
    assert {kind: (int(worth), what) for kind, worth, what in rows} == STAGES


@pytest.mark.parametrize("line", COMMANDS)
def test_command_has_the_options(line, capsys):
    words = shlex.split(line)
    # A command of Count Golf is two words.
    command = words[: 2 if words[0] == "golf" else 1]
    with pytest.raises(SystemExit):
        __main__.main([*command, "--help"])
    shown = capsys.readouterr().out
    assert all(word in shown for word in words if word.startswith("--"))
