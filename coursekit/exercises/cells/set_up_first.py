"""Say that the set-up cell has not run, where a new kernel lacks what it defines.

`make lab` writes a setting of IPython into `.venv`, and so every kernel starts with
this extension, before any cell has run. In a notebook outside of the course it does
nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from coursekit import paths
from coursekit.errors import LaunchError
from coursekit.exercises.cells import settings

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


def install(prefix: str = sys.prefix) -> None:
    """Let kernels of this environment start with the extension.

    Where settings are there already, a cell shows Python's own NameError.
    """
    content: dict[str, object] = {"IPKernelApp": {"extra_extensions": [__name__]}}
    settings.add(prefix, "ipython/ipython_kernel_config.json", content)


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Explain names that are not defined, `%%cuda` and the like, until set-up runs."""
    folders = (paths.repository(), paths.work())
    if not any(Path.cwd().is_relative_to(folder) for folder in folders):
        return
    shell.set_custom_exc((NameError,), _explain)
    for magic in ("cuda", "host", "cpp"):
        shell.magics_manager.register_function(_refusing(magic), "cell", magic)


def _explain(
    shell: InteractiveShell,
    kind: type[NameError],
    error: NameError,
    trace: TracebackType,
    tb_offset: int | None = None,
) -> None:
    """Show the error in place of IPython; it is explained where `ck` is missing too."""
    shown: BaseException = error
    if kind is NameError and "ck" not in shell.user_ns:
        shown = _not_set_up(error.name or "a name").with_traceback(trace)
    shell.showtraceback(
        (type(shown), shown, trace), tb_offset=tb_offset, running_compiled_code=True
    )


def _refusing(magic: str) -> Callable[[str, str], None]:
    def refuse(line: str, cell: str) -> None:
        raise _not_set_up(f"%%{magic}")

    return refuse


def _not_set_up(name: str) -> LaunchError:
    return LaunchError.explained(
        f"{name} is not defined: the set-up cell of this notebook has not run yet.",
        "The kernel is new or was restarted, and knows nothing of earlier cells.",
        "Run the set-up cell first, which is the first code cell; then this cell.",
    )
