"""The base of all widgets: their JavaScript, style sheets, texts and static pictures.

A widget called NAME is the ES module `js/NAME.js` with the style sheet
`js/NAME.css`. JupyterLab loads a widget's module from a text that has no address to
import others from, so what it imports is put in front of it: `js/shared.js`, and
pieces of its own where one file would be too long.
"""

from __future__ import annotations

import base64
import re
from html import escape
from pathlib import Path
from typing import Any, ClassVar

import anywidget

from coursekit.widgets import palette

FOLDER = Path(__file__).resolve().parent / "js"
_IMPORT = re.compile(r'^import \{[^}]*\} from "\./(\w+)\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=function|const)", re.MULTILINE)


def module_text(name: str) -> str:
    """Return a widget's ES module, preceded by the modules that it imports."""
    *helpers, main = _in_order(name)
    texts = [_EXPORT.sub("", _read(f"{helper}.js")) for helper in helpers]
    return "\n".join(_IMPORT.sub("", text) for text in [*texts, _read(f"{main}.js")])


def _in_order(name: str) -> list[str]:
    """Return the modules that a module needs, each once, imported ones first."""
    modules: list[str] = []
    for imported in _IMPORT.findall(_read(f"{name}.js")):
        modules += [module for module in _in_order(imported) if module not in modules]
    return [*modules, name]


def style_text(name: str) -> str:
    """Return a widget's style sheet: colours, shared rules, its own rules."""
    return palette.variables() + _read("shared.css") + _read(f"{name}.css")


def _read(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


class CourseWidget(anywidget.AnyWidget):
    """Base of the widgets; a subclass names its files and draws itself.

    A subclass says ``class Name(CourseWidget, files="name")``, defines `__repr__`
    (the same text on every machine) and either `static_svg` with `alt_text`, or
    `static_html`. What these show is stored in the notebook.

    Examples
    --------
    >>> class Dot(CourseWidget, files="grid_block"):
    ...     def static_svg(self):
    ...         return '<svg xmlns="http://www.w3.org/2000/svg"></svg>'
    ...     def alt_text(self):
    ...         return "a dot"
    ...     def __repr__(self):
    ...         return "Dot()"
    >>> Dot().static_html()[:18]
    '<img alt="a dot" s'
    """

    files: ClassVar[str] = ""

    def __init_subclass__(cls, files: str = "", **keywords: Any) -> None:
        if files:
            cls.files = files
            cls._esm = module_text(files)
            cls._css = style_text(files)
        super().__init_subclass__(**keywords)

    def static_svg(self) -> str:
        """Return the picture that stands for the widget, as an SVG document."""
        raise NotImplementedError(f"{type(self).__name__} draws no picture")

    def alt_text(self) -> str:
        """Return what the picture shows, in words."""
        raise NotImplementedError(f"{type(self).__name__} describes no picture")

    def static_html(self) -> str:
        """Return what is shown where no kernel runs.

        It has to survive the cleaning of untrusted notebooks, which removes `<svg>`
        but keeps `<img>`.
        """
        data = base64.b64encode(self.static_svg().encode()).decode("ascii")
        return (
            f'<img alt="{escape(self.alt_text())}" style="max-width:100%" '
            f'src="data:image/svg+xml;base64,{data}">'
        )

    def _repr_mimebundle_(self, **keywords: Any) -> tuple[dict, dict]:
        """Show the live view where it can be had, else the static one."""
        bundle = super()._repr_mimebundle_(**keywords)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle or {}, {})
        texts = {"text/plain": repr(self), "text/html": self.static_html()}
        return data | texts, metadata
