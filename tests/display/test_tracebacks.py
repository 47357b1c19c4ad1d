"""Facts about what a notebook shows of an error."""

import pytest

from coursekit import errors
from coursekit.errors import CheckFailed, CourseError, LaunchError

pytest_plugins = ("notebook_shell",)

FAILING = """\
def launch():
    raise ck.LaunchError.explained("1025 threads", "too many", "use 1024")

launch()
"""


def test_a_cell_shows_its_lines_and_the_message(session):
    shown, _ = session.fail(FAILING)
    assert shown.split("\n") == [
        "Cell In[1], line 4:  launch()",
        "Cell In[1], line 2:  "
        'raise ck.LaunchError.explained("1025 threads", "too many", "use 1024")',
        "LaunchError: 1025 threads",
        "  too many",
        "  use 1024",
        "",
    ]


def test_library_frames_are_left_out(session):
    shown, _ = session.fail("ck.show('absent')")
    assert "display.py" not in shown


def test_the_whole_traceback_stays_on_the_error(session):
    _, error = session.fail("ck.show('absent')")
    frames = []
    trace = error.__traceback__
    while trace:
        frames.append(trace.tb_frame.f_code.co_name)
        trace = trace.tb_next
    assert "show" in frames


def test_the_verbose_mode_shows_the_library_too(session):
    session.run("%xmode Verbose")
    shown, _ = session.fail("ck.show('absent')")
    assert "source.py" in shown


def test_notes_belong_to_the_message(session):
    shown, _ = session.fail("e = ck.CheckFailed('no')\ne.add_note('try 3')\nraise e")
    assert shown.endswith("CheckFailed: no\ntry 3\n")


def test_without_ipython_the_message_alone_is_shown():
    assert LaunchError("grid 0")._render_traceback_() == ["LaunchError: grid 0"]


def test_trouble_while_rendering_still_shows_the_error(monkeypatch):
    def broken(error):
        raise RuntimeError

    monkeypatch.setattr(errors, "_full", broken)
    assert errors.render_traceback(CheckFailed("no")) == ["CheckFailed: no"]


@pytest.mark.parametrize("kind", [CourseError, LaunchError, CheckFailed])
def test_every_error_of_the_tree_renders_itself(kind):
    assert kind("what")._render_traceback_() == [f"{kind.__name__}: what"]


def test_other_errors_keep_the_traceback_of_ipython(session):
    shown, _ = session.fail("1 // 0")
    assert "Traceback (most recent call last)" in shown
