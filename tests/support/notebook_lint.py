"""The rules for a committed notebook, as functions from a notebook to complaints.

`RULES` is the table of them; CONTRIBUTING.md says the same in words.
"""

from __future__ import annotations

import ast
import copy
import json
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import course_chapters
import nbformat
from cell_names import bound_names
from execute import asks, code_hash, is_claim, is_section, normalise, to_text
from IPython.core.inputtransformer2 import TransformerManager
from nbformat import NotebookNode
from notebook_claims import claims

from coursekit.exercises import catalogue

MAXIMUM_BYTES = 300_000
LINE_MAGICS = {"load_ext"}
CELL_MAGICS = {"cuda", "host", "cpp"}
SLIDE_TYPES = {"slide", "subslide", "fragment", "skip", "notes"}
TAG = re.compile(
    r"nbval-check-output|raises-exception|solution-hidden|claim"
    r"|exercise-\d\d\.(?:\d+|[a-z])"
)
OPENING = (
    "**After this chapter you can**",
    "**Time**",
    "**Needs**",
    "**Numbers shown**",
)
CLOSING = course_chapters.CLOSING
EXERCISE_CELL = re.compile(r"%%(?:cuda|host|cpp)\b.*--exercise[ =](\S+)")
# Reprs of results that a machine must not change: Counters, Findings, arrays.
EXACT_OUTPUT = re.compile(r"\b(?:Counters|Findings) \(|(?<![\w.])array\(")
# Rows of counters that were counted in PTX, which another compiler changes.
PTX_COUNT = re.compile(r"^ +(\w+) +[\d,]+ +ptx$", re.MULTILINE)
ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]{6,}")
HOME_FOLDER = re.compile(r"/(?:home|Users|root|tmp|work|opt)/[\w.-]+")
INSTALL = re.compile(r"\b(?:pip3?|conda|mamba|uv|apt|apt-get)\s+(?:pip\s+)?install\b")
IMAGE = re.compile(r"!\[(?P<alt>[^\]]*)\]\(")
IMAGE_TAG = re.compile(r"<(?:img|svg)\b[^>]*>", re.IGNORECASE)
ALT_ATTRIBUTE = re.compile(r"\b(?:alt|aria-label)\s*=\s*(\"[^\"]+\"|'[^']+')")

Complaints = Iterator[str]


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    """Return the code cells, in order."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def markdown_cells(notebook: NotebookNode) -> list[NotebookNode]:
    """Return the Markdown cells, in order."""
    return [cell for cell in notebook.cells if cell.cell_type == "markdown"]


def sections(notebook: NotebookNode) -> list[list[NotebookNode]]:
    """Return the cells of each section; what precedes the first is left out."""
    found: list[list[NotebookNode]] = []
    for cell in notebook.cells:
        if is_section(cell):
            found.append([])
        if found:
            found[-1].append(cell)
    return found


def title(section: list[NotebookNode]) -> str:
    """Return a section's heading."""
    return section[0].source.split("\n")[0].removeprefix("## ").strip()


def tags(cell: NotebookNode) -> list[str]:
    """Return a cell's tags."""
    return cell.metadata.get("tags", [])


def lines(cell: NotebookNode) -> int:
    """Count a cell's lines that are not blank."""
    return sum(1 for line in cell.source.split("\n") if line.strip())


def texts(output: NotebookNode) -> Iterator[str]:
    """Yield every text of an output, pictures in base64 left out."""
    if output.output_type == "stream":
        yield output.text
    for kind, value in output.get("data", {}).items():
        if isinstance(value, str) and kind not in ("image/png", "image/jpeg"):
            yield value
    yield from output.get("traceback", [])


def outputs(notebook: NotebookNode) -> Iterator[tuple[NotebookNode, NotebookNode]]:
    """Yield (cell, output) for every output of the notebook."""
    for cell in code_cells(notebook):
        for output in cell.outputs:
            yield cell, output


# ---------------------------------------------------------------- format


def valid(notebook: NotebookNode) -> Complaints:
    """Be a valid notebook of format 4.5 with unique ids."""
    if (notebook.nbformat, notebook.nbformat_minor) != (4, 5):
        yield f"format {notebook.nbformat}.{notebook.nbformat_minor}, not 4.5"
    ids = [cell.get("id") for cell in notebook.cells]
    repeated = sorted({str(name) for name in ids if ids.count(name) > 1})
    if repeated:
        yield f"the cell id {repeated[0]} occurs more than once"
        return
    try:
        nbformat.validate(notebook)
    except nbformat.ValidationError as error:
        yield f"not a valid notebook: {error.message}"


def canonical(notebook: NotebookNode) -> Complaints:
    """Have the ids and the metadata that notebooks/execute.py gives, and no other."""
    form = to_text(normalise(copy.deepcopy(notebook)))
    if form != to_text(notebook):
        before, after = to_text(notebook).split("\n"), form.split("\n")
        pairs = zip(before, after, strict=False)
        changed = next((pair for pair in pairs if pair[0] != pair[1]), ("", ""))
        yield (
            f"not in canonical form: {changed[0].strip()!r} would become "
            f"{changed[1].strip()!r}; run notebooks/execute.py --format"
        )


def metadata(notebook: NotebookNode) -> Complaints:
    """Name the kernel python3 and store no widget state."""
    if notebook.metadata.get("kernelspec", {}).get("name") != "python3":
        yield "the kernelspec is not python3"
    if "widgets" in notebook.metadata:
        yield "widget state is stored in metadata.widgets"


def size(notebook: NotebookNode) -> Complaints:
    """Stay below 300 KB."""
    found = len(to_text(notebook).encode())
    if found > MAXIMUM_BYTES:
        yield f"{found:,} bytes, above {MAXIMUM_BYTES:,}"


def known_tags(notebook: NotebookNode) -> Complaints:
    """Carry the known tags only: above all, none that skips or ignores a cell."""
    for cell in notebook.cells:
        for tag in tags(cell):
            if not TAG.fullmatch(tag):
                yield f"{cell.id}: the tag {tag} is not allowed"


# ---------------------------------------------------------------- code


def magics(cell: NotebookNode) -> Iterator[str]:
    """Yield the shell escapes and magics of a cell that are not allowed."""
    source = cell.source
    if source.startswith("%%host"):
        source = source.partition("\n")[2]  # Python, as any other
    transformed = TransformerManager().transform_cell(source)
    try:
        tree = ast.parse(transformed)
    except SyntaxError as error:
        yield f"a syntax error: {error.msg}"
        return
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        target = ast.unparse(node.func)
        if target in ("os.system", "os.popen", "subprocess.run", "subprocess.Popen"):
            yield target
        if target.startswith("get_ipython()."):
            name = ast.literal_eval(node.args[0]) if node.args else ""
            allowed = {"run_line_magic": LINE_MAGICS, "run_cell_magic": CELL_MAGICS}
            if name not in allowed.get(node.func.attr, ()):
                yield {"run_line_magic": "%", "run_cell_magic": "%%"}.get(
                    node.func.attr, "!"
                ) + str(name)


def no_escapes(notebook: NotebookNode) -> Complaints:
    """Use no shell, no magic but %load_ext, %%cuda, %%host, %%cpp; install nothing."""
    for cell in code_cells(notebook):
        for found in magics(cell):
            yield f"{cell.id}: {found} is not allowed"
        if INSTALL.search(cell.source):
            yield f"{cell.id}: a notebook installs nothing"
        if "NBVAL_" in cell.source or "PYTEST_VALIDATE" in cell.source:
            yield f"{cell.id}: say it with a tag, not with a comment for nbval"


def no_paths_beside(notebook: NotebookNode) -> Complaints:
    """Open no file by a path from the notebook: a copy in work/ lies elsewhere."""
    for cell in code_cells(notebook):
        if "../" in cell.source:
            yield f"{cell.id}: a path with ../ leads nowhere from a student's copy"


def questions_alone(notebook: NotebookNode) -> Complaints:
    """Ask in a cell of its own: its source is folded away, as it has the answer.

    That it is folded away is part of the canonical form.
    """
    for cell in filter(asks, code_cells(notebook)):
        body = ast.parse(cell.source).body
        if len(body) > 1 or not isinstance(body[0], ast.Expr):
            yield f"{cell.id}: a guess or quiz shares its cell, and hides the rest"


def exercises(notebook: NotebookNode) -> Complaints:
    """Hold the starter of each exercise, unchanged, in a cell that is tagged so."""
    for cell in code_cells(notebook):
        tagged = [tag[9:] for tag in tags(cell) if tag.startswith("exercise-")]
        named = EXERCISE_CELL.match(cell.source)
        if tagged != ([named[1]] if named else []):
            yield f"{cell.id}: tags {tagged} on a cell that begins {cell.source[:30]!r}"
        elif named:
            entry = catalogue.find(named[1])
            starter = entry.starter.read_text(encoding="utf-8").strip()
            if cell.source != f"{entry.exercise.first_line}\n{starter}":
                yield f"{cell.id}: not the starter of exercise {named[1]}"


def checks_follow(notebook: NotebookNode) -> Complaints:
    """Check each exercise in its section, behind its cell."""
    for section in sections(notebook):
        for number, cell in enumerate(section):
            named = EXERCISE_CELL.match(cell.source)
            behind = [other.source for other in section[number + 1 :]]
            if named and not any(f'ck.check("{named[1]}"' in text for text in behind):
                yield f"{cell.id}: no check of {named[1]} behind it in its section"


def sections_stand_alone(notebook: NotebookNode) -> Complaints:
    """Define every name in the section that uses it, or in the set-up cell.

    A %%cuda cell defines its kernels and its NAME.
    """
    setup = code_cells(notebook)[:1]
    for section in sections(notebook):
        code = setup + [c for c in section if c.cell_type == "code" and c not in setup]
        for problem in undefined_names(code):
            yield f"section {title(section)!r} does not run alone: {problem}"
        source = "\n".join(cell.source for cell in code)
        bound = {name for cell in code for name in bound_names(cell)}
        for name in re.findall(r"ck\.module\(\s*[\"'](\w+)[\"']", source):
            if name not in bound:
                yield f"section {title(section)!r} has no %%cuda cell named {name}"


def in_python(cell: NotebookNode) -> NotebookNode:
    """Write a cell of a magic as Python that uses and binds the same names."""
    cell = copy.deepcopy(cell)
    if cell.source.startswith("%%host"):
        cell.source = cell.source.partition("\n")[2]
    names = bound_names(cell)
    if cell.source.startswith(("%%cuda", "%%cpp")):
        values = re.findall(r"\{([^{}]+)\}", cell.source.partition("\n")[0])
        cell.source = "\n".join([*values, *(f"{name} = ..." for name in names)])
    return cell


def undefined_names(cells: list[NotebookNode]) -> list[str]:
    """Return what ruff says of names that the cells use and do not define."""
    part = nbformat.v4.new_notebook(cells=[in_python(cell) for cell in cells])
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--select=F821"]
    command += ["--output-format=json", "--stdin-filename=part.ipynb", "-"]
    answer = subprocess.run(
        command, input=nbformat.writes(part), capture_output=True, text=True
    )
    return [problem["message"] for problem in json.loads(answer.stdout)]


def lengths(notebook: NotebookNode) -> Complaints:
    """Keep code cells and prose short; claims are not seen."""
    seen = [cell for cell in code_cells(notebook) if not is_claim(cell)]
    code = [lines(cell) for cell in seen]
    prose = [len(cell.source.split()) for cell in markdown_cells(notebook)]
    if code and statistics.median(code) > 5:
        yield f"the median code cell has {statistics.median(code):g} lines, above 5"
    if sum(count > 12 for count in code) > len(code) / 10:
        yield "more than one code cell in ten has more than 12 lines"
    for cell in seen:
        if lines(cell) > 25:
            yield f"{cell.id}: {lines(cell)} lines, above 25"
    if prose and statistics.median(prose) > 60:
        yield f"the median prose cell has {statistics.median(prose):g} words, above 60"


# ---------------------------------------------------------------- outputs


def executed(notebook: NotebookNode) -> Complaints:
    """Store the outputs of one clean run of this very code."""
    counts = [cell.execution_count for cell in code_cells(notebook)]
    if counts != list(range(1, len(counts) + 1)):
        yield f"execution counts {counts} are not those of one run from the top"
    stored = notebook.metadata.get("coursekit", {}).get("executed_sha256")
    if stored != code_hash(notebook):
        yield "the outputs are not of this code; run `make notebooks`"


def clean_outputs(notebook: NotebookNode) -> Complaints:
    """Store no errors (unless tagged), warnings, machine paths or addresses."""
    repository = str(Path(__file__).resolve().parents[2])
    places = {repository, str(Path.home()), tempfile.gettempdir(), sys.prefix}
    for cell, output in outputs(notebook):
        if output.output_type == "error" and "raises-exception" not in tags(cell):
            yield f"{cell.id}: the output is an error, {output.ename}"
        if output.output_type == "stream" and output.name == "stderr":
            yield f"{cell.id}: the output has text on stderr"
        for text in texts(output):
            found = HOME_FOLDER.search(text)
            place = next((p for p in places if len(p) > 1 and p in text), None)
            if place or found:
                yield f"{cell.id}: a path of a machine, {place or found.group()}"
            if ADDRESS.search(text):
                yield f"{cell.id}: an address, {ADDRESS.search(text).group()}"


def exact_outputs_checked(notebook: NotebookNode) -> Complaints:
    """Compare, cell by cell, outputs that hold counters, findings or arrays."""
    for cell, output in outputs(notebook):
        if "nbval-check-output" in tags(cell):
            continue
        for text in texts(output):
            found = EXACT_OUTPUT.search(text)
            if found:
                yield f"{cell.id}: shows {found.group()}...) without nbval-check-output"


def strict_outputs_exact(notebook: NotebookNode) -> Complaints:
    """Compare exact counters only: counts of PTX are another compiler's others."""
    for cell, output in outputs(notebook):
        if "nbval-check-output" in tags(cell):
            for name in PTX_COUNT.findall("\n".join(texts(output))):
                yield (
                    f"{cell.id}: compares the count {name}, which is one of PTX; "
                    "show .exact, or let the output go uncompared"
                )


# ---------------------------------------------------------------- pictures


def pictures_described(notebook: NotebookNode) -> Complaints:
    """Give every picture an alternative text."""
    for cell in markdown_cells(notebook):
        for match in IMAGE.finditer(cell.source):
            if not match["alt"].strip():
                yield f"{cell.id}: a Markdown image without alt text"
        yield from undescribed_tags(cell, cell.source)
    for cell, output in outputs(notebook):
        for kind in output.get("data", {}):
            if kind.startswith("image/") and not described(cell, output, kind):
                yield f"{cell.id}: a figure ({kind}) without alt text"
        yield from undescribed_tags(cell, output.get("data", {}).get("text/html", ""))


def undescribed_tags(cell: NotebookNode, text: str) -> Complaints:
    """Complain of each <img> without alt and each <svg> without aria-label."""
    for match in IMAGE_TAG.finditer(text):
        if not ALT_ATTRIBUTE.search(match.group()):
            yield f"{cell.id}: {match.group()[:40]} without alt text"


def described(cell: NotebookNode, output: NotebookNode, kind: str) -> bool:
    """Tell whether an output, its HTML twin or its cell has an alternative text."""
    own = output.metadata.get(kind, {}).get("alt") or output.metadata.get("alt")
    twin = ALT_ATTRIBUTE.search(output.data.get("text/html", ""))
    return bool(own or twin or cell.metadata.get("alt"))


# ---------------------------------------------------------------- the lesson


def opening(notebook: NotebookNode) -> Complaints:
    """Open with title, goals, time, needs and numbers; then the set-up cell."""
    first = notebook.cells[0]
    if first.cell_type != "markdown" or not first.source.startswith("# "):
        yield "the first cell is not a Markdown title"
    for part in OPENING:
        if part not in first.source:
            yield f"the first cell lacks {part}"
    if len(notebook.cells) < 2 or notebook.cells[1].cell_type != "code":
        yield "the second cell is not the set-up cell"


def closing(notebook: NotebookNode) -> Complaints:
    """Close with the four sections that every chapter closes with."""
    found = tuple(title(section) for section in sections(notebook))[-4:]
    if found != CLOSING:
        yield f"the last sections are {found}, not {CLOSING}"


def minutes(notebook: NotebookNode) -> Complaints:
    """Say how long each section takes; their sum is the Time of the first cell.

    notebook_lint_lesson.py compares them with the rule, and with the most allowed.
    """
    for section in sections(notebook):
        spent = section[0].metadata.get("minutes", 0)
        if title(section) not in CLOSING and (not isinstance(spent, int) or spent < 1):
            yield f"section {title(section)!r} has no metadata.minutes"
    total = sum(cell.metadata.get("minutes", 0) for cell in notebook.cells)
    stated = re.search(r"\*\*Time\*\*\D*(\d+)", notebook.cells[0].source)
    if stated and int(stated[1]) != total:
        yield f"Time says {stated[1]} minutes, the sections sum to {total}"


def list_items(notebook: NotebookNode) -> Complaints:
    """Write more into a list's item than a number: "1. 32." begins a list in a list."""
    for cell in markdown_cells(notebook):
        for line in cell.source.split("\n"):
            if re.fullmatch(r"\s*(?:\d+\.|[-*]) +\d+[.)]\s*", line):
                yield f"{cell.id}: {line!r} shows a letter; write a sentence"


def slides(notebook: NotebookNode) -> Complaints:
    """Start a slide with the title and with each section; use no type "-"."""
    for number, cell in enumerate(notebook.cells):
        kind = cell.metadata.get("slideshow", {}).get("slide_type")
        if kind is not None and kind not in SLIDE_TYPES:
            yield f"{cell.id}: slide_type {kind!r} (leave the key out to go on)"
        if (number == 0 or is_section(cell)) and kind != "slide":
            yield f"{cell.id}: a title or section without slide_type slide"


RULES: tuple[Callable[[NotebookNode], Complaints], ...] = (
    valid,
    canonical,
    metadata,
    size,
    known_tags,
    no_escapes,
    no_paths_beside,
    questions_alone,
    exercises,
    checks_follow,
    claims,
    sections_stand_alone,
    lengths,
    executed,
    clean_outputs,
    exact_outputs_checked,
    strict_outputs_exact,
    pictures_described,
    opening,
    closing,
    minutes,
    list_items,
    slides,
)
