"""Fetching a file whose size and SHA-256 are known."""

from __future__ import annotations

import hashlib
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path

from coursekit import paths
from coursekit.errors import DataError
from coursekit.runtime.progress_bar import ProgressBar

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

    It is compared with its SHA-256, written under another name, and only then given
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
        Or a mirror has it, and the folder has no place for it.
    """
    file = folder / known.name
    if is_whole(file, known):
        return file
    reasons = []
    for mirror in mirrors:
        try:
            content = _received(mirror, known)
        except (OSError, ValueError, HTTPException, _Wrong) as error:
            reasons.append(f"{mirror}: {_reason(error)}")
        else:
            return _stored(content, file)
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


def _reason(error: Exception) -> str:
    return str(getattr(error, "reason", None) or error or type(error).__name__).strip()


def _received(mirror: str, known: Known) -> bytes:
    """Return what a mirror sends, if it is the file; no more is read than that has."""
    request = urllib.request.Request(mirror + known.name)
    pieces, done = [], 0
    with (
        urllib.request.urlopen(request, timeout=PATIENCE_S) as stream,
        ProgressBar(known.name, verb="fetching", unit="bytes") as bar,
    ):
        while piece := stream.read(_PIECE):
            done += len(piece)
            if done > known.nbytes:
                raise _Wrong(f"sent more than the {known.nbytes:,} bytes it has")
            pieces.append(piece)
            bar(done, known.nbytes)
    if done < known.nbytes:
        raise _Wrong(f"sent {done:,} of {known.nbytes:,} bytes")
    content = b"".join(pieces)
    found = hashlib.sha256(content).hexdigest()
    if found != known.sha256:
        raise _Wrong(f"sent something whose SHA-256 is {found}")
    return content


def _stored(content: bytes, file: Path) -> Path:
    try:
        return paths.write_whole(file, content)
    except OSError as error:
        raise DataError.explained(
            f"{file} was fetched, and cannot be written: {error.strerror or error}.",
            "The folder is not yours to write in, or its disk is full.",
            "Let COURSEKIT_DATA name a folder that is yours and has room.",
        ) from error
