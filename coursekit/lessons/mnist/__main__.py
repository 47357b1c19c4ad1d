"""Record on a GPU how well the network of chapter 26 learns.

`python -m coursekit.lessons.mnist [FOLDER]` trains the full network;
`python -m coursekit.lessons.mnist --small [FOLDER]` the small one that the course
ships, wherever it is. FOLDER has MNIST's test files.
"""

from __future__ import annotations

import sys
from pathlib import Path

from coursekit.lessons.mnist import full_run, shipping

if __name__ == "__main__":
    folders = [Path(name) for name in sys.argv[1:] if name != "--small"]
    make = shipping.ship if "--small" in sys.argv else full_run.record
    sys.stdout.write(f"{make(folder=folders[0] if folders else None)}\n")
