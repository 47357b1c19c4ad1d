"""A content-addressed cache on disk that is never trusted unverified.

An entry is one file, named by its key: a line with the key and the SHA-256 of
what follows, then JSON. It is written beside its place and moved there in one
step, so that two processes may write at once; an entry that does not verify
counts as absent. So does one that another user has written, or could have: entries
hold code that will run, and a hash that lies beside them protects from damage alone.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coursekit import paths

_MAGIC = "coursekit-cache 1"
BUCKETS = 16
LIMIT_BYTES = 256 * 1024 * 1024
_UNFINISHED = ".new-"
_UNFINISHED_S = 3600  # an older unfinished file is one whose writer was killed


def key(parts: object) -> str:
    """Return the SHA-256, in hexadecimal, of anything that JSON can write."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


class Cache:
    """The entries below one folder.

    Parameters
    ----------
    folder : Path
        Made when the first entry is written, for this user alone; where that fails,
        nothing is kept.
    limit_bytes : int
        Beyond it the oldest entries go, bucket by bucket.

    Attributes
    ----------
    state : str
        The result of the last call: "hit", "miss", "damaged" (present, but not what was
        written under this key), "foreign" (another user has written it, or could have),
        "stored", or "unwritable".
    """

    def __init__(self, folder: Path, limit_bytes: int = LIMIT_BYTES):
        self.folder = folder
        self.limit_bytes = limit_bytes
        self.state = "miss"

    def path(self, key: str) -> Path:
        """File of an entry: below one of 16 buckets, by the key's first digit."""
        return self.folder / key[0] / f"{key}.json"

    def get(self, key: str, fields: Mapping[str, type] = {}) -> dict[str, Any] | None:
        """Return what was stored under a key, or None.

        `fields` are the names, with types, that a usable value has.
        """
        try:
            content = paths.read_own(self.path(key))
        except PermissionError:
            self.state = "foreign"
            return None
        except OSError:
            self.state = "miss"
            return None
        value = _verified(key, content, fields)
        self.state = "damaged" if value is None else "hit"
        return value

    def put(self, key: str, value: dict[str, Any]) -> None:
        """Store a value; a folder that cannot be written leaves it uncached."""
        payload = json.dumps(value).encode()
        path = self.path(key)
        try:
            paths.make_private(path.parent)
            _write(path, _header(key, payload) + payload)
            _prune(path.parent, self.limit_bytes // BUCKETS, keep=path)
        except OSError:
            self.state = "unwritable"
        else:
            self.state = "stored"


def _header(key: str, payload: bytes) -> bytes:
    return f"{_MAGIC} {key} {hashlib.sha256(payload).hexdigest()}\n".encode()


def _verified(
    key: str, content: bytes, fields: Mapping[str, type]
) -> dict[str, Any] | None:
    header, _, payload = content.partition(b"\n")
    if header + b"\n" != _header(key, payload):
        return None
    try:
        value = json.loads(payload)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    whole = all(isinstance(value.get(name), kind) for name, kind in fields.items())
    return value if whole else None


def _write(path: Path, content: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=_UNFINISHED)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _prune(bucket: Path, limit_bytes: int, keep: Path) -> None:
    """Remove unfinished files, and the oldest files of a bucket above its limit."""
    files = []
    with os.scandir(bucket) as entries:
        for entry in entries:
            with contextlib.suppress(FileNotFoundError):
                status = entry.stat(follow_symlinks=False)
                # One that seems to be of the future is older than a clock set back.
                age = abs(time.time() - status.st_mtime)
                if entry.name.startswith(_UNFINISHED) and age > _UNFINISHED_S:
                    os.unlink(entry.path)
                else:
                    files.append((status.st_mtime_ns, status.st_size, entry.path))
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files):
        if total <= limit_bytes:
            return
        if path != str(keep):
            with contextlib.suppress(OSError):  # gone, or a folder
                os.unlink(path)
                total -= size
