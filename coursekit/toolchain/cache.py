"""A content-addressed cache on disk that is never trusted unverified.

An entry is one file, named by its key: a line with the key and the SHA-256 of
what follows, then JSON. It is written beside its place and moved there in one
step, so that two processes may write at once; an entry that does not verify
counts as absent.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

_MAGIC = "coursekit-cache 1"
BUCKETS = 16
LIMIT_BYTES = 256 * 1024 * 1024


def key(parts: object) -> str:
    """Return the SHA-256, in hexadecimal, of anything that JSON can write."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


class Cache:
    """The entries below one folder.

    Parameters
    ----------
    folder : Path
        Made when the first entry is written; where that fails, nothing is kept.
    limit_bytes : int
        Beyond it the oldest entries go, bucket by bucket.

    Attributes
    ----------
    state : str
        The result of the last call: "hit", "miss", "damaged" (present, but not what was
        written under this key), "stored", or "unwritable".
    """

    def __init__(self, folder: Path, limit_bytes: int = LIMIT_BYTES):
        self.folder = folder
        self.limit_bytes = limit_bytes
        self.state = "miss"

    def path(self, key: str) -> Path:
        """File of an entry: below one of 16 buckets, by the key's first digit."""
        return self.folder / key[0] / f"{key}.json"

    def get(self, key: str) -> dict[str, Any] | None:
        """Return what was stored under a key, or None."""
        try:
            content = self.path(key).read_bytes()
        except OSError:
            self.state = "miss"
            return None
        value = _verified(key, content)
        self.state = "damaged" if value is None else "hit"
        return value

    def put(self, key: str, value: dict[str, Any]) -> None:
        """Store a value; a folder that cannot be written leaves it uncached."""
        payload = json.dumps(value).encode()
        path = self.path(key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _write(path, _header(key, payload) + payload)
            _prune(path.parent, self.limit_bytes // BUCKETS, keep=path)
        except OSError:
            self.state = "unwritable"
        else:
            self.state = "stored"


def _header(key: str, payload: bytes) -> bytes:
    return f"{_MAGIC} {key} {hashlib.sha256(payload).hexdigest()}\n".encode()


def _verified(key: str, content: bytes) -> dict[str, Any] | None:
    header, _, payload = content.partition(b"\n")
    if header + b"\n" != _header(key, payload):
        return None
    value: dict[str, Any] = json.loads(payload)
    return value


def _write(path: Path, content: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _prune(bucket: Path, limit_bytes: int, keep: Path) -> None:
    """Remove the oldest files of a bucket until it is below its limit."""
    files = []
    with os.scandir(bucket) as entries:
        for entry in entries:
            with contextlib.suppress(FileNotFoundError):
                status = entry.stat()
                files.append((status.st_mtime_ns, status.st_size, entry.path))
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files):
        if total <= limit_bytes:
            return
        if path != str(keep):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
            total -= size
