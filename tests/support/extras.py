"""Which optional packages a text of Python imports, and which are not here."""

from __future__ import annotations

import importlib.util
import re

# Packages of the extra `dsl`, which `make test` installs.
OPTIONAL = ("triton", "helion", "cutlass")
_IMPORT = re.compile(rf"^\s*(?:import|from) ({'|'.join(OPTIONAL)})\b", re.MULTILINE)


def missing(text: str) -> str:
    """Say which package of an extra a text needs and this environment lacks.

    Examples
    --------
    >>> missing("import math")
    ''
    """
    for name in sorted(set(_IMPORT.findall(text))):
        if importlib.util.find_spec(name) is None:
            return f"{name} is not installed: run `make setup EXTRAS=dsl`"
    return ""
