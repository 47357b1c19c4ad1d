"""Write the files of a new exercise, which fails its tests until it is filled in.

``python -m coursekit new-exercise 05.7 name [--topic first_kernels] [--host | --cpp]``
writes the starter, a solution and an entry, with a mutant, in the chapter's spec.py;
with --host for an answer in Python, with --cpp for a C++ program. An id with a letter,
05.a, makes a piece of "your turn".
"""

from __future__ import annotations

import argparse
import ast
import keyword
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from coursekit import paths
from coursekit.errors import ArgumentError
from coursekit.exercises import catalogue
from coursekit.exercises.any_exercise import ID
from coursekit.exercises.set_aside import write

SPEC = '''"""Exercises of chapter {chapter}: TODO."""

EXERCISES = ()
'''
ENTRY = '''

def {name}_inputs(n, generator):
    """TODO: one entry for each parameter, in the kernel's order."""
    return {{"out": blank(n), "a": shuffled(n, generator), "n": n}}


EXERCISES += (
    Exercise(
        id="{id}",
        name="{name}",
        title="TODO",{stars}
        kernel="{name}",
        inputs={name}_inputs,
        outputs=("out",),
        reference=lambda v: v.a,  # TODO
        hints={hints},
        mutants={{  # at least {least}
            "todo": Mutant(
                mistake="TODO: a sentence that says what is wrong.",
                edits=[("// Your code here.", "TODO")],
                fails=(CheckFailed, "TODO"),
            ),
        }},
        starter=(CheckFailed, "never written"),
    ),
)
'''
SOURCE = """// TODO: a sentence that says {what}.
__global__ void {name}(float *out, const float *a, int n)
{{
    // Your code here.
}}
"""
HOST_ENTRY = '''

def {name}_is_right(function, show):
    """TODO: call the function, and say what is wrong with what it returns."""
    if function(3) != 6:
        raise CheckFailed.explained("TODO: what", "TODO: why", "TODO: what to do")


EXERCISES += (
    HostExercise(
        id="{id}",
        name="{name}",
        title="TODO",{stars}
        function="{name}",
        checks=(("TODO: what this stage looks at", {name}_is_right),),
        hints={hints},
        mutants={{  # at least {least}
            "todo": Mutant(
                mistake="TODO: a sentence that says what is wrong.",
                edits=[("return x", "return x  # TODO")],
                fails=(CheckFailed, "TODO"),
            ),
        }},
        starter=(CheckFailed, "TODO"),
    ),
)
'''
HOST_SOURCE = """# TODO: a sentence that says {what}.
def {name}(x):
    # Your code here.
    return x
"""
CPP_ENTRY = """

EXERCISES += (
    ProgramExercise(
        id="{id}",
        name="{name}",
        title="TODO",{stars}
        cases=(Case(args=(3,), stdout="6\\n"),),  # TODO: what it prints
        hints={hints},
        mutants={{  # at least {least}
            "todo": Mutant(
                mistake="TODO: a sentence that says what is wrong.",
                edits=[("// Your code here.", "TODO")],
                fails=(CheckFailed, "TODO"),
            ),
        }},
        starter=(CheckFailed, "TODO"),
    ),
)
"""
CPP_SOURCE = """// TODO: a sentence that says {what}.
#include <cstdio>
#include <cstdlib>

int main(int, char **words) {{
    int {name} = std::atoi(words[1]);
    // Your code here.
    std::printf("%d\\n", {name});
}}
"""
TEMPLATES = {
    "cuda": (ENTRY, SOURCE, ".cu"),
    "host": (HOST_ENTRY, HOST_SOURCE, ".py"),
    "cpp": (CPP_ENTRY, CPP_SOURCE, ".cpp"),
}
EXERCISE = {
    "stars": "\n        stars=1,",
    "hints": '("TODO", "TODO", "TODO")',
    "least": "three",
}
YOUR_TURN = {"stars": "", "hints": '("TODO",)', "least": "one"}
# What the entries use.
IMPORTS = {
    "cuda": ("Exercise", "Mutant", "blank", "shuffled"),
    "host": ("HostExercise", "Mutant"),
    "cpp": ("Case", "Mutant", "ProgramExercise"),
}
# Those of C++ that a name in snake_case may be.
CPP_KEYWORDS = frozenset(
    [
        "auto",
        "bool",
        "case",
        "catch",
        "char",
        "class",
        "const",
        "default",
        "delete",
        "do",
        "double",
        "enum",
        "explicit",
        "export",
        "extern",
        "float",
        "friend",
        "goto",
        "inline",
        "int",
        "long",
        "mutable",
        "namespace",
        "new",
        "operator",
        "private",
        "protected",
        "public",
        "register",
        "short",
        "signed",
        "sizeof",
        "static",
        "struct",
        "switch",
        "template",
        "this",
        "throw",
        "typedef",
        "typename",
        "union",
        "unsigned",
        "using",
        "virtual",
        "void",
        "volatile",
        "and",
        "bitand",
        "bitor",
        "compl",
        "not",
        "or",
        "xor",
    ]
)
FILES = {
    "exercises": "what is to be done",
    "solutions": "how it is done",
}


def create(
    id: str, name: str, topic: str = "", *, language: str = "cuda"
) -> list[Path]:
    """Write the files of a new exercise and return their paths.

    Parameters
    ----------
    id, name : str
        "05.7", or "05.a" for a piece of "your turn"; snake_case.
    topic : str
        The chapter's name, such as "first_kernels", where it has no notebook and no
        exercise yet.
    language : str
        Of the answer: a kernel in "cuda", a Python function on the "host", or a
        program in "cpp".

    Raises
    ------
    ArgumentError
        The id or the name is taken or malformed, or the topic is not known.
    """
    _require_form(id, name)
    root = paths.exercises()
    existing = {entry.id: entry for entry in catalogue.entries(root)}
    if id in existing:
        raise _refused(
            f"{id} exists: {existing[id].exercise.title}", f"Take an id after {id}."
        )
    chapter, _, number = id.partition(".")
    folder = _topic(root, chapter, topic)
    stem = f"{number}_{name}"
    entry, source, suffix = TEMPLATES[language]
    spec = root / "exercises" / folder / "spec.py"
    exists = spec.exists()
    text = spec.read_text(encoding="utf-8") if exists else SPEC.format(chapter=chapter)
    text = importing(text, "coursekit.errors", ("CheckFailed",))
    text = importing(text, "coursekit.exercises", IMPORTS[language])
    parts = YOUR_TURN if number.isalpha() else EXERCISE
    write(spec, text.rstrip("\n") + "\n" + entry.format(id=id, name=name, **parts))
    written = [spec]
    for kind, what in FILES.items():
        path = root / kind / folder / f"{stem}{suffix}"
        write(path, source.format(name=name, what=what))
        written.append(path)
    return written


def importing(text: str, module: str, names: Sequence[str]) -> str:
    """Add an import of these names to a source, merged and sorted with its others."""
    body, lines = ast.parse(text).body, text.splitlines()
    imports = [
        statement
        for statement in body
        if isinstance(statement, ast.Import | ast.ImportFrom)
    ]
    same = [
        statement for statement in imports if getattr(statement, "module", "") == module
    ]
    imported = {ast.unparse(name) for statement in same for name in statement.names}
    new = f"from {module} import {', '.join(sorted(imported | set(names)))}"
    later = [i for i in imports if getattr(i, "module", "") > module]
    if same:
        lines[same[0].lineno - 1 : same[0].end_lineno] = [new]
    elif later:
        lines.insert(later[0].lineno - 1, new)
    elif imports:
        lines.insert(imports[-1].end_lineno, new)
    else:  # insert behind the docstring
        end = body[0].end_lineno
        lines[end:end] = ["", new]
    return "\n".join(lines) + "\n"


def _require_form(id: str, name: str) -> None:
    if not ID.fullmatch(id):
        raise _refused(
            f"{id!r} is no id",
            'Write the chapter, a dot, and a number, 05.7, or for "your turn" a '
            "letter, 05.a.",
        )
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise _refused(f"{name!r} is no name", "Write it in snake_case: shift_left.")
    if keyword.iskeyword(name) or name in CPP_KEYWORDS:
        raise _refused(
            f"{name!r} is a keyword, and no function can have that name",
            f"Add a word: {name}_each.",
        )


def _topic(root: Path, chapter: str, topic: str) -> str:
    """Return a chapter's folder: an existing one, or its notebook's or topic's name."""
    folders = [path.name for path in (root / "exercises").glob(f"{chapter}_*")]
    notebooks = (paths.repository() / "notebooks").glob(f"{chapter}_*.ipynb")
    topics = [*folders, *(path.stem for path in notebooks)]
    if topics:
        return topics[0]
    if not topic:
        raise _refused(
            f"Chapter {chapter} has neither a notebook nor exercises yet",
            "Name its topic: --topic first_kernels.",
        )
    return f"{chapter}_{topic}"


def _refused(what: str, cure: str) -> ArgumentError:
    return ArgumentError.explained(f"new-exercise: {what}.", cure=cure)


def main(arguments: Sequence[str]) -> int:
    """Write the files, name them, and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m coursekit new-exercise",
        description="Start an exercise; its tests fail until every TODO is filled in.",
    )
    parser.add_argument("id", help='05.7, or 05.a for "your turn"')
    parser.add_argument("name", help="in snake_case: shift_left")
    parser.add_argument("--topic", default="", help="for the first of a chapter")
    for option, what in (("host", "in Python"), ("cpp", "a C++ program")):
        parser.add_argument(
            f"--{option}",
            dest="language",
            action="store_const",
            const=option,
            default="cuda",
            help=f"the answer is {what}",
        )
    options = parser.parse_args(arguments)
    for path in create(
        options.id, options.name, options.topic, language=options.language
    ):
        sys.stdout.write(f"{path}\n")
    test = f"pytest tests/exercises/test_exercises_all.py -k {options.id}"
    sys.stdout.write(f"Fill in every TODO, then: .venv/bin/python -m {test}\n")
    return 0
