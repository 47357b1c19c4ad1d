"""`python -m coursekit.mnist [FOLDER]`: record on a GPU how well the network learns."""

from __future__ import annotations

import sys
from pathlib import Path

from coursekit.mnist.full_run import record

if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    sys.stdout.write(f"{record(folder)}\n")
