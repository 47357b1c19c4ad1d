"""Facts about `expect_error`."""

import pytest

from coursekit.display.expected_errors import expect_error
from coursekit.errors import ArgumentError, CheckFailed, LaunchError, OutOfBoundsError

pytest_plugins = ("notebook_shell",)


def test_an_expected_error_ends_the_block_quietly():
    with expect_error(OutOfBoundsError):
        raise OutOfBoundsError("reads a[5]")


def test_the_error_is_held_after_the_block():
    error = OutOfBoundsError("reads a[5]")
    with expect_error(OutOfBoundsError) as caught:
        raise error
    assert caught.error is error


def test_a_subclass_is_expected_too():
    with expect_error(ArithmeticError) as caught:
        raise ZeroDivisionError
    assert type(caught.error) is ZeroDivisionError


@pytest.mark.parametrize("kind", [ValueError, KeyError])
def test_one_of_several_types_is_enough(kind):
    with expect_error(ValueError, KeyError):
        raise kind


def test_without_an_error_the_check_fails():
    with (
        pytest.raises(CheckFailed, match="Expected OutOfBoundsError, but nothing"),
        expect_error(OutOfBoundsError),
    ):
        pass


def test_the_failure_names_every_type():
    with (
        pytest.raises(CheckFailed, match="Expected ValueError or KeyError"),
        expect_error(ValueError, KeyError),
    ):
        pass


@pytest.mark.parametrize("error", [LaunchError("grid 0"), KeyboardInterrupt()])
def test_another_exception_passes_through_unchanged(error):
    with pytest.raises(type(error)) as caught, expect_error(OutOfBoundsError):
        raise error
    assert caught.value is error


def test_a_matching_message_is_expected():
    with expect_error(OutOfBoundsError, match=r"a\[\d+\]"):
        raise OutOfBoundsError("reads a[5]")


def test_another_message_fails_with_the_error_as_its_cause():
    error = OutOfBoundsError("reads a[5]")
    with (
        pytest.raises(
            CheckFailed, match=r"matches 'b\\\\\[', but .* reads a\[5\]"
        ) as e,
        expect_error(OutOfBoundsError, match=r"b\["),
    ):
        raise error
    assert e.value.__cause__ is error


@pytest.mark.parametrize(
    "given",
    ["ValueError", ValueError("x"), int, None, (ValueError,), KeyboardInterrupt],
)
def test_what_is_no_exception_class_is_refused(given):
    with pytest.raises(ArgumentError, match="which is no exception class"):
        expect_error(ValueError, given)


def test_at_least_one_type_is_needed():
    with pytest.raises(ArgumentError, match="at least one exception class"):
        expect_error()


def test_a_broken_pattern_is_refused():
    with pytest.raises(ArgumentError, match="no regular expression"):
        expect_error(ValueError, match="a[")


def test_it_can_be_entered_again():
    expected = expect_error(ValueError, KeyError)
    for error in (ValueError("1"), KeyError("2")):
        with expected:
            raise error
    assert type(expected.error) is KeyError


def test_the_cell_shows_the_error_as_expected(session):
    shown = session.run(
        "with ck.expect_error(ck.LaunchError) as caught:\n"
        "    raise ck.LaunchError.explained('grid 0', 'a size is 0', 'check n')"
    )
    assert shown == "As expected: LaunchError: grid 0\n  a size is 0\n  check n\n"


def test_a_cell_without_the_error_shows_its_line(session):
    shown, _ = session.fail("x = 1\nwith ck.expect_error(ck.LaunchError):\n    x = 2")
    assert shown.startswith(
        "Cell In[1], line 2:  with ck.expect_error(ck.LaunchError):\nCheckFailed: Exp"
    )
