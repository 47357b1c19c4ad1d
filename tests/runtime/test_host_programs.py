"""C and C++ programs in their sandbox: what they leave, and what stops them."""

from __future__ import annotations

import os
import resource
import shutil
import time
from pathlib import Path

import pytest

import coursekit as ck
from coursekit.runtime.programs.limits import MEBIBYTE, Limits
from coursekit.runtime.programs.result import SHOWN_LINES, Run

pytestmark = pytest.mark.skipif(
    shutil.which("c++") is None, reason="no C++ compiler: apt install g++"
)
QUICK = Limits(seconds=1.0)

HELLO = """#include <cstdio>
int main(int count, char **words) {
    std::printf("%d words, the last is %s\\n", count, words[count - 1]);
    std::fprintf(stderr, "to stderr\\n");
    return 7;
}
"""
IN_C = """#include <stdio.h>
#include <stdlib.h>
int main(void) {
    float *values = malloc(4 * sizeof(float)); /* C++ would refuse it */
    values[3] = 2.5f;
    printf("%g\\n", values[3]);
    free(values);
}
"""


def run(source, *args, sanitize=False, **options):
    return ck.program(source, sanitize=sanitize).run(*args, **options)


def main(body, *includes):
    lines = [f"#include <{name}>\n" for name in includes]
    return f"{''.join(lines)}int main(int count, char **) {{\n{body}\n}}\n"


# ---------------------------------------------------------------- what it leaves


def test_run_has_exit_code_and_output():
    ran = run(HELLO, "one", 2)
    assert (ran.returncode, ran.stderr) == (7, "to stderr\n")
    assert ran.stdout == "3 words, the last is 2\n"


def test_run_without_defects_has_no_findings_and_no_launches():
    ran = run(HELLO, sanitize=True)
    assert (ran.findings, ran.launches) == ((), ())


def test_repr_is_what_a_terminal_shows():
    assert repr(run(HELLO, "one")) == (
        "$ ./program one\n2 words, the last is one\nstderr:\nto stderr\nexit code 7"
    )


def test_a_c_program_is_compiled_as_c():
    assert ck.program(IN_C, name="values.c").run().stdout == "2.5\n"


def test_a_program_reads_its_stdin():
    body = 'int x; std::scanf("%d", &x); std::printf("%d", 2 * x); return count - 1;'
    assert run(main(body, "cstdio"), stdin="21").stdout == "42"


def test_a_path_is_found_below_kernels():
    assert ck.program("start/overflow.c").source.name == "kernels/start/overflow.c"


def test_an_own_header_is_part_of_the_program(tmp_path):
    (tmp_path / "half.h").write_text("inline int half(int x) { return x / 2; }\n")
    source = tmp_path / "halves.cpp"
    source.write_text('#include "half.h"\nint main() { return half(84); }\n')
    assert run(source).returncode == 42
    (tmp_path / "half.h").write_text("inline int half(int x) { return x / 4; }\n")
    assert run(source).returncode == 21


def test_the_folder_of_a_program_is_removed():
    body = "char name[999]; getcwd(name, 999); std::puts(name); return count - 1;"
    folder = run(main(body, "cstdio", "unistd.h")).stdout.strip()
    assert folder
    assert not Path(folder).exists()


def test_a_program_is_compiled_once(monkeypatch):
    ck.program(HELLO)
    monkeypatch.setattr("subprocess.run", None)  # no compiler is started
    ck.program(HELLO)


def test_warnings_of_the_compiler_are_shown():
    ran = run(main("int unused; return count - 1;"))
    assert "The compiler warns: program.cpp:2: unused variable 'unused'" in repr(ran)


def test_output_beyond_a_million_bytes_is_counted():
    body = 'for (int i = 0; i < 300000; i++) std::puts("spam"); return count - 1;'
    ran = run(main(body, "cstdio"))
    assert (len(ran.stdout), ran.lost_bytes) == (1_000_000, (500_000, 0))
    assert "and 500,000 more bytes, which were not kept" in repr(ran)


def test_long_output_is_cut_in_the_repr():
    ran = Run(("x",), 0, "line\n" * (SHOWN_LINES + 5), "")
    assert repr(ran).endswith("... and 5 more lines")


# ---------------------------------------------------------------- what stops it

ENDLESS = main("volatile int i = 0; for (;;) i = i + count;")
WAITS = main("sleep(1000 * count);", "unistd.h")
TEN_GIB = main(
    "for (int block = 0; block < 160; block++) {"
    "    volatile char *p = new char[64 << 20];"
    "    for (int i = 0; i < 64 << 20; i += 4096) p[i] = count;"
    "}"
)
FORK_BOMB = main("while (count) fork();", "unistd.h")
DAEMONS = main("while (count) if (fork() == 0) setsid();", "unistd.h")
THREADS = main(
    "std::vector<std::thread> all; while (count) all.emplace_back([] { sleep(99); });",
    "thread", "unistd.h", "vector",
)  # fmt: skip
MANY_FILES = main(
    'char name[99]; for (long i = 0; count; i++) { std::sprintf(name, "f%ld", i);'
    'if (FILE *file = std::fopen(name, "w")) std::fclose(file); }', "cstdio",
)  # fmt: skip
ONE_FILE = main(
    'FILE *file = std::fopen("a", "w"); while (count) std::fputs("0123456789", file);',
    "cstdio",
)
STOPPED = {
    "an endless loop": (ENDLESS, QUICK, "had not ended after 1 s of computing"),
    "sleep": (WAITS, Limits(seconds=0.5), "had not ended after 3 s of waiting"),
    "10 GiB": (TEN_GIB, Limits(memory_bytes=100 * MEBIBYTE), "above 100 MiB"),
    "a fork bomb": (FORK_BOMB, Limits(), "processes and threads, above 64"),
    "a bomb of daemons": (DAEMONS, Limits(), "processes and threads, above 64"),
    "threads": (THREADS, Limits(tasks=20), "each copy runs the loop"),
    "many files": (MANY_FILES, Limits(), "had made more than 1,000 files"),
    "a large file": (
        ONE_FILE,
        Limits(file_bytes=MEBIBYTE),
        "had made files of more than 1 MiB",
    ),
}


@pytest.mark.parametrize("name", STOPPED)
@pytest.mark.parametrize("sanitize", [False, True])
def test_a_limit_ends_the_program_with_a_clear_word(name, sanitize):
    source, limits, words = STOPPED[name]
    ran = run(source, sanitize=sanitize, limits=limits)
    assert ran.stopped
    assert words in repr(ran)


def test_an_endless_output_is_stopped_and_its_bytes_are_counted():
    ran = run(main('while (count) std::puts("spam");', "cstdio"), limits=QUICK)
    assert ran.stopped
    assert ran.stdout.startswith("spam\nspam\n")


def test_what_a_program_leaves_behind_is_ended():
    body = (
        "if (fork() == 0) { setsid(); if (fork() == 0) { sleep(1000); } return 0; }"
        'std::printf("%d", getpid()); return count - 1;'
    )
    began = time.monotonic()
    ran = run(main(body, "cstdio", "unistd.h"))
    assert (ran.returncode, ran.findings) == (0, ())
    assert time.monotonic() - began < 900  # it did not wait for its daemon
    with pytest.raises(ProcessLookupError):
        os.killpg(int(ran.stdout), 0)


# ---------------------------------------------------------------- what it does wrong

PAST_HEAP = "int *p = new int[4]; p[count + 3] = 1; int x = p[0]; delete[] p; return x;"
DEFECTS = {
    "past a block": (
        PAST_HEAP, "heap-buffer-overflow",
        "program.cpp:2: writes 4 bytes right behind a block of 16 bytes, which line 2",
    ),
    "past a variable": (
        "int a[3] = {1, 2, 3}; int *p = a; return p[count + 2];",
        "stack-buffer-overflow", "reads 4 bytes outside of the variable a of line 2",
    ),
    "after free": (
        "int *p = new int(count);\ndelete p;\nreturn *p;",
        "heap-use-after-free", "4: reads 4 bytes in memory that was freed, in line 3",
    ),
    "freed twice": (
        "int *p = new int(count), *q = p;\ndelete p;\ndelete q;",
        "attempting double-free", "4: frees a block that was freed before, in line 3",
    ),
    "a leak": (
        "int *p = new int[100];\np[0] = count;\np = nullptr;\nreturn p != nullptr;",
        "leak", "program.cpp:2: 400 bytes that line 2 allocates are never freed",
    ),
    "int overflow": (
        "int big = 2147483647;\nbig += count;\nreturn big == 1;",
        "overflow", "program.cpp:3: signed integer overflow:",
    ),
    "null": (
        "int *p = nullptr;\nif (count) *p = 3;\nreturn 0;",
        "null", "program.cpp:3: store to null pointer",
    ),
    "a cast": (
        "float x = 1e20f * count;\nreturn (int)x == 3;",
        "conversion", "program.cpp:3: 1e+20 is outside the range",
    ),
    "division": (
        "return 3 / (count - 1);",
        "division-by-zero", "program.cpp:2: division by zero",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DEFECTS)
def test_a_sanitizer_names_the_line_the_cause_and_the_cure(name):
    body, kind, words = DEFECTS[name]
    finding = run(main(body), sanitize=True).findings[0]
    assert (finding.kind, finding.line is not None) == (kind, True)
    assert words in finding.message
    assert finding.cause
    assert finding.cure


def test_a_local_variable_that_was_left_is_found():
    source = "int *f() {\n int x = 3;\n int *p = &x;\n return p;\n}\n"
    finding = run(source + "int main() { return *f(); }\n", sanitize=True).findings[0]
    assert "in a local variable of a function that has returned" in finding.what


@pytest.fixture
def stack_of_make():
    """Lift the limit of the stack, as make does for what it runs."""
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    resource.setrlimit(resource.RLIMIT_STACK, (hard, hard))
    yield
    resource.setrlimit(resource.RLIMIT_STACK, (soft, hard))


def test_a_recursion_without_end_is_found(stack_of_make):
    source = "int f(int n) {\n return n < 0 ? 0 : f(n + 1) + 1;\n}\n"
    finding = run(source + "int main() { return f(1); }\n", sanitize=True).findings[0]
    assert "has no stack left" in finding.what
    # The page below the stack is met at the entry of f or at its call.
    assert finding.line in (1, 2)


def test_each_place_is_found_once():
    ran = run(main("int *p = nullptr;\nif (count) *p = 3;\nreturn 0;"), sanitize=True)
    assert len(ran.findings) == 1


def test_reports_are_not_in_stderr():
    ran = run(main("int big = 2147483647;\nbig += count;"), sanitize=True)
    assert (len(ran.findings), ran.stderr) == (1, "")


def test_a_crash_without_sanitizers_says_how_to_find_the_line():
    ran = run(main("volatile int *p = nullptr; *p = count;"))
    assert "it used an address where it has no memory (SIGSEGV)" in repr(ran)
    assert "sanitize=True, which names the line" in repr(ran)


# ---------------------------------------------------------------- what is refused

REFUSED = {
    "a semicolon": (
        "int main() {\n    int x = 3\n    return x;\n}", ck.CompileError,
        "program.cpp:3: expected ',' or ';' before 'return'\n        return x;\n",
    ),
    "a dot": (
        "struct N { float w1; };\nint main() { N n; N *p = &n; p.w1 = 3; }",
        ck.CompileError, "Write an arrow: p->w1.",
    ),
    "void*": (
        "#include <cstdlib>\nint main() { float *p = malloc(3); }",
        ck.CompileError, "C++ asks for a cast.",
    ),
    "a star after a missing semicolon": (
        "int main() {\n    int a = 1, *b = &a, c = a\n    *b = c;\n}",
        ck.CompileError, "goes on here",
    ),
    "an address for a struct": (
        "struct N { int x; };\nvoid f(N n) {}\nint main() { N n; f(&n); }",
        ck.CompileError, "N* is given, and N is needed",
    ),
    "a row for its first": (
        "void f(char **w) {}\nint main(int, char **w) { f(w[1]); }",
        ck.CompileError, "*p and p[i] take one off",
    ),
    "a semicolon in a macro": (
        "#define TWO(x) (2 * (x));\nint main() { return (TWO(3) + 1); }",
        ck.CompileError, "belongs to its text",
    ),
    "a macro with a space": (
        "#define TWO (x) (2 * (x))\nint main() { return TWO(3); }",
        ck.CompileError, "without a space",
    ),
    "a power": (
        "int main() { int x = 3; return x ** 2; }",
        ck.CompileError, "no operator ** for powers",
    ),
    "no main": ("int f() { return 1; }", ck.CompileError, "has no function main"),
    "no body": (
        "void f();\nint main() { f(); }", ck.CompileError, "nothing defines it"
    ),
    "CUDA": ("start/vec_add.cu", ck.UnsupportedError, "is CUDA C++"),
    "no file": ("start/nothing.c", ck.LaunchError, "There is no file"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_program_that_cannot_be_built_is_refused(name):
    source, kind, words = REFUSED[name]
    with pytest.raises(kind) as caught:
        ck.program(source)
    assert words in str(caught.value)


def test_without_a_compiler_the_message_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(ck.UnsupportedError, match=r"sudo apt install g\+\+"):
        ck.program("int main() { return 99; }")


def test_a_zero_byte_in_an_argument_is_refused():
    with pytest.raises(ck.ArgumentError, match="zero byte"):
        run(HELLO, "a\0b")


def test_a_time_of_zero_is_refused():
    with pytest.raises(ck.ArgumentError, match="not positive"):
        run(HELLO, timeout_s=0)


# ---------------------------------------------------------------- make


def test_a_makefile_builds_its_first_target(monkeypatch):
    # As below a make: without them it prints where it is.
    monkeypatch.setenv("MAKEFLAGS", "w")
    monkeypatch.setenv("MAKELEVEL", "1")
    demo = ck.program("start/make_demo/Makefile")
    assert demo.commands.splitlines() == [
        "g++ -g -Wall -c main.cpp",
        "g++ -g -Wall -c network.cpp",
        "g++ -g -Wall -o network main.o network.o",
    ]
    assert repr(demo.run(3)) == "$ ./network 3\n6.5"


def test_a_makefile_is_built_with_sanitizers():
    demo = ck.program("start/make_demo/Makefile", sanitize=True)
    assert "-fsanitize" in demo.commands
    assert demo.run(3).findings == ()


def test_an_error_in_a_source_of_a_makefile_names_its_file(tmp_path):
    (tmp_path / "Makefile").write_text("a: a.cpp\n\tg++ -o a a.cpp\n")
    (tmp_path / "a.cpp").write_text("int main() { return x; }\n")
    with pytest.raises(ck.CompileError, match="a.cpp:1: 'x' was not declared"):
        ck.program(tmp_path / "Makefile")


def test_a_makefile_without_a_target_is_refused(tmp_path):
    (tmp_path / "Makefile").write_text("CXX = g++\n")
    with pytest.raises(ck.CompileError, match="has no target"):
        ck.program(tmp_path / "Makefile")


def test_a_program_can_be_shown():
    listing = repr(ck.show("start/overflow.c"))
    assert "int n = argc > 1" in listing
    assert "network: main.o network.o" in repr(ck.show("start/make_demo/Makefile"))
