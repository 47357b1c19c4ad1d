"""Compile errors of one who knows Python better than C++ name the slip, on the host."""

from __future__ import annotations

import shutil

import pytest

import coursekit as ck

pytestmark = pytest.mark.skipif(
    shutil.which("c++") is None, reason="no C++ compiler: apt install g++"
)

POINTERS = "void f(int *a, int *b) {{\n    {}\n}}\nint main() {{}}"
MACRO = '#include <cstdio>\n{}\nint main() {{\n    std::printf("%d", TWICE(3));\n}}'
CLASS = "struct Owner {{\n    float *x = new float[3];\n    {}\n}};\n{}"
MAKES = "int main() { Owner owner; }"

SLIPS = {
    "a variable without a type": (
        POINTERS.format("kept = *a;"),
        "this is its first use", "int kept = ...;",
    ),
    "Python's True": (
        POINTERS.format("if (True) *a = 1;"), "a word of Python", "true, false"
    ),
    "an address that is assigned to": (
        POINTERS.format("&a = *b;"), "a place that holds a value", "*p = ..."
    ),
    "a part of an array": (
        POINTERS.format("*a = b[1:3];"), "no slices", "p + k"
    ),
    "a loop over nothing": (
        POINTERS.format("for (value : b) *a = value;"),
        "needs a type", "for (float value : values)",
    ),
    "a cast without brackets": (
        POINTERS.format("*a = static_cast<int> 2.5f;"),
        "The value of a cast", "static_cast<float>(x)",
    ),
    "a star before a struct": (
        "struct N { int x; };\nvoid f(N n) {}\nint main() { N n; f(*n); }",
        "this is no pointer", "&x is the address of x",
    ),
    "a member of a const": (
        "struct N { int x; };\nvoid f(const N &n) { n.x = 1; }\nint main() {}",
        "it may be read", "take away the const",
    ),
    "a macro with =": (
        MACRO.format("#define TWICE(x) = (2 * (x))"), "the = too", "Leave out the ="
    ),
    "a macro with a type": (
        MACRO.format("#define TWICE(int x) (2 * (x))"),
        "knows no types", "the name alone",
    ),
    "a macro that returns": (
        MACRO.format("#define TWICE(x) return 2 * x;"),
        "is no function", "Leave out return",
    ),
    "a destructor with a type": (
        CLASS.format("void ~Owner() { delete[] x; }", MAKES),
        "neither a type nor parameters", "leave the brackets empty",
    ),
    "a destructor with a parameter": (
        CLASS.format("~Owner(int n) { delete[] x; }", MAKES),
        "neither a type nor parameters", "leave the brackets empty",
    ),
    "a destructor of another name": (
        CLASS.format("~owner() { delete[] x; }", MAKES),
        "letter by letter", "capitals",
    ),
    "a destructor that is forbidden": (
        CLASS.format("~Owner() = delete;", MAKES),
        "no object of the class could end", "Give it a body",
    ),
    "a copy that is forbidden": (
        CLASS.format("Owner() {} Owner(const Owner &) = delete;",
                     "int main() { Owner a; Owner b = a; }"),
        "A class forbids the copy", "by reference",
    ),
    "a copy of a copy": (
        CLASS.format("Owner(const Owner) = delete;", MAKES),
        "would have to be copied", "const Owner&.",
    ),
    "a type for an object": (
        "struct Square {};\nint f(Square, int);\nint main() { f(Square, 1); }",
        "the name of a type stands in its place", "as in Square{}",
    ),
    "arguments in another order": (
        "struct Plus {};\nfloat f(Plus, float);\nint main() { f(1.0f, Plus{}); }",
        "float is given, and Plus is needed", "the order of the arguments",
    ),
    "arguments that no overload takes": (
        "template <class T> void f(T *, T *);\nint main() { f(1, 2); }",
        "none takes these arguments", "their number, order and types",
    ),
    "an operator that a class lacks": (
        "struct Pair { int first; };\nint main() { Pair a{1}; return a - 1; }",
        "There is no such operator for these types", "as in pair.first",
    ),
    "a power of a float": (
        "int main() { float x = 3; x = x ^ 2; }",
        "^ is the exclusive or of two whole numbers", "x * x",
    ),
    "a variable with a second type": (
        "int main() {\n    int some = 0;\n    int some = 1;\n}",
        "is declared above", "Leave out the type",
    ),
    "an element that is deleted": (
        CLASS.format("~Owner() { delete x[0]; }", MAKES),
        "the address that new returned", "without an index",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SLIPS)
def test_slip_is_named(name):
    text, cause, cure = SLIPS[name]
    with pytest.raises(ck.CompileError) as caught:
        ck.program(text)
    assert cause in str(caught.value)
    assert cure in str(caught.value)


TEMPLATE = """#include <algorithm>
#include <vector>
int main() {
    std::vector<int> x{3, 1};
    std::sort(x, x);
}
"""


def test_error_in_a_template_names_the_line_that_uses_it():
    with pytest.raises(ck.CompileError) as caught:
        ck.program(TEMPLATE)
    first = str(caught.value).split("\n")[0]
    assert first.startswith("program.cpp:5: ")
    assert "/usr/" not in first
    assert caught.value.line == 5
    assert "std::sort(x, x);" in str(caught.value)
    assert "x.begin() is an iterator" in str(caught.value)


def test_misspelt_variable_is_not_told_to_declare():
    with pytest.raises(ck.CompileError) as caught:
        ck.program("int main() {\n    float sums = 0;\n    summs = 3;\n}")
    assert "first use" not in str(caught.value)


WARNED = {
    "a number for an address": (
        'std::scanf("%f", x);', "it takes an address, as in &x"
    ),
    "an empty loop": (
        "while (x > 0);\n        x = 1;", "a semicolon right behind its brackets"
    ),
    "a stored comparison": ("while (x = 0) x = 1;", "= stores, and == compares"),
}  # fmt: skip


@pytest.mark.parametrize("name", WARNED)
def test_warning_is_explained(name):
    line, words = WARNED[name]
    text = f"#include <cstdio>\nint main() {{\n    float x = 0;\n    {line}\n}}"
    assert words in ck.program(text).warnings[0]


def test_warning_ends_without_dots():
    text = "int main() {\n    int x = 0;\n    while (x > 0);\n        x = 1;\n}"
    assert "..." not in ck.program(text).warnings[0]
