"""Limits that a process sets itself."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import resource
from coursekit.toolchain.process_limits import limit
resource.setrlimit(resource.RLIMIT_CPU, (HARD, HARD))
limit("CPU", 50, 5)
print(*resource.getrlimit(resource.RLIMIT_CPU))
"""


@pytest.mark.parametrize(
    ("hard", "limits"), [("-1", "50 55"), ("40", "40 40"), ("52", "50 52")]
)
def test_limit_is_at_most_the_one_that_was_there(hard, limits):
    program = PROGRAM.replace("HARD", hard)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == limits.split()
