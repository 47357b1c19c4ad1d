"""What C code writes to its stdout shows where Python's output goes."""

from __future__ import annotations

import ctypes
import os
import sys

import pytest

from coursekit.runtime.gpu import printing

PTX = ".extern .func (.param .b32 func_retval0) vprintf\n"


def c_print(text):
    """Print as the driver does: into the buffer of C's stdout, without a flush."""
    ctypes.CDLL(None).printf(b"%s", text.encode())


def test_printf_of_a_kernel_reaches_the_output_of_python(capsys):
    with printing.to_python():
        c_print("Hello from thread 0\n")
    assert capsys.readouterr().out == "Hello from thread 0\n"


def test_nothing_printed_writes_nothing(capsys):
    with printing.to_python():
        pass
    assert capsys.readouterr().out == ""


def test_text_keeps_its_place_among_that_of_python(capfd):
    print("before")
    with printing.to_python():
        c_print("kernel\n")
    print("after")
    assert capfd.readouterr().out == "before\nkernel\nafter\n"


def test_earlier_text_in_the_buffer_of_c_is_not_taken(capsys):
    c_print("earlier\n")
    with printing.to_python():
        c_print("kernel\n")
    assert capsys.readouterr().out == "kernel\n"


def test_bytes_that_are_no_text_are_replaced(capsys):
    with printing.to_python():
        os.write(1, b"\xff\n")
    assert capsys.readouterr().out == "\N{REPLACEMENT CHARACTER}\n"


def test_text_of_a_kernel_that_fails_is_shown(capsys):
    with pytest.raises(ZeroDivisionError), printing.to_python():
        c_print("last words\n")
        _ = 1 / 0
    assert capsys.readouterr().out == "last words\n"


def test_stdout_is_as_before(capfd):
    with printing.to_python():
        pass
    os.write(1, b"directly\n")
    assert capfd.readouterr().out == "directly\n"


def test_no_descriptor_is_left_open(capsys):
    def opened():
        return len(os.listdir("/proc/self/fd"))

    with printing.to_python():
        pass
    before = opened()
    with printing.to_python():
        pass
    assert opened() == before


def test_without_a_stdout_the_launch_goes_on(capsys, monkeypatch):
    def closed(number):
        raise OSError(9, "Bad file descriptor")

    monkeypatch.setattr(os, "dup", closed)
    ran = []
    with printing.to_python():
        ran.append(1)
    assert ran


@pytest.mark.parametrize(("ptx", "answer"), [(PTX, True), (".visible .entry k", False)])
def test_printf_is_recognised_in_ptx(ptx, answer):
    assert printing.prints(ptx) is answer


def test_python_without_stdout_is_no_error(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    with printing.to_python():
        c_print("nobody reads this\n")
