"""Fetching a file whose size and SHA-256 are known."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from coursekit.errors import DataError
from coursekit.progress_bar import ProgressBar

PATIENCE_S = 20
_PIECE = 1 << 16


@dataclass(frozen=True)
class Known:
    """A file of which it is known what it holds."""

    name: str
    nbytes: int
    sha256: str


def fetch(known: Known, folder: Path, mirrors: Sequence[str]) -> Path:
    """Return the file from a folder, fetched from the first mirror that has it.

    It is written under another name, compared with its SHA-256, and only then given
    its own: what bears the name is whole, however many fetch it at a time.

    Parameters
    ----------
    known : Known
    folder : Path
        Made when it is not there.
    mirrors : sequence of str
        Addresses to which the name is appended; none, to fetch nothing.

    Raises
    ------
    DataError
        It is not in the folder and no mirror has it; the message has every reason.
    """
    file = folder / known.name
    if is_whole(file, known):
        return file
    reasons = []
    for mirror in mirrors:
        try:
            return _from(mirror, known, file)
        except (OSError, ValueError, _Wrong) as error:
            reasons.append(f"{mirror}: {getattr(error, 'reason', None) or error}")
    state = "is damaged" if file.exists() else "is not there"
    raise DataError.explained(
        f"{file} {state}, and could not be fetched.",
        "; ".join(reasons) or "Nothing may be fetched from the network here.",
        f"Put {known.name} with the SHA-256 {known.sha256} there yourself, "
        "or take drawn_digits().",
    )


def is_whole(file: Path, known: Known) -> bool:
    """Tell whether a file is there and holds what it should."""
    try:
        if file.stat().st_size != known.nbytes:
            return False
        with open(file, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest() == known.sha256
    except OSError:
        return False


class _Wrong(Exception):
    """What a mirror sent is not the file."""


def _from(mirror: str, known: Known, file: Path) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    request = urllib.request.Request(mirror + known.name)
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{known.name}.")
    unfinished = Path(name)
    try:
        with (
            os.fdopen(handle, "wb") as out,
            urllib.request.urlopen(request, timeout=PATIENCE_S) as stream,
        ):
            _copy(stream, out, known)
        os.replace(unfinished, file)
    finally:
        with contextlib.suppress(FileNotFoundError):
            unfinished.unlink()
    return file


def _copy(stream, out, known: Known) -> None:
    """Copy and check; no more is read than the file has."""
    found, done = hashlib.sha256(), 0
    with ProgressBar(known.name, verb="fetching", unit="bytes") as bar:
        while piece := stream.read(_PIECE):
            done += len(piece)
            if done > known.nbytes:
                raise _Wrong(f"sent more than the {known.nbytes:,} bytes it has")
            found.update(piece)
            out.write(piece)
            bar(done, known.nbytes)
    if done < known.nbytes:
        raise _Wrong(f"sent {done:,} of {known.nbytes:,} bytes")
    if found.hexdigest() != known.sha256:
        raise _Wrong(f"sent something whose SHA-256 is {found.hexdigest()}")
