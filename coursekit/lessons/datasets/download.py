"""Fetching a file whose size and SHA-256 are known."""

from __future__ import annotations

import hashlib
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path

from coursekit import paths
from coursekit.errors import DataError
from coursekit.runtime.progress_bar import ProgressBar

PATIENCE_S = 20  # for one answer of a mirror
# All of a file may take a minute, and as long as its bytes take at this rate.
LEAST_S, LOWEST_RATE = 60, 20_000
_PIECE = 1 << 16


@dataclass(frozen=True)
class Known:
    """A file whose name, size and SHA-256 are known before it is fetched."""

    name: str
    nbytes: int
    sha256: str


def fetch(published: Known, folder: Path, mirrors: Sequence[str]) -> Path:
    """Return the file from a folder, fetched from the first mirror that has it.

    It is compared with its SHA-256, written under another name, and only then given
    its own: what bears the name is whole, however many fetch it at a time.

    Parameters
    ----------
    published : Known
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
    file = folder / published.name
    if is_whole(file, published):
        return file
    reasons = []
    for mirror in mirrors:
        try:
            content = _received(mirror, published)
        except (OSError, ValueError, HTTPException, _Wrong) as error:
            reasons.append(f"{mirror}: {_reason(error)}")
        else:
            return _stored(content, file)
    state = "is damaged" if file.exists() else "is not there"
    raise DataError.explained(
        f"{file} {state}, and could not be fetched.",
        "; ".join(reasons) or "Nothing may be fetched from the network here.",
        f"Put {published.name} with the SHA-256 {published.sha256} there yourself, "
        "or take drawn_digits().",
    )


def is_whole(file: Path, published: Known) -> bool:
    """Tell whether a file exists and has the published size and SHA-256."""
    try:
        if file.stat().st_size != published.nbytes:
            return False
        with open(file, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest() == published.sha256
    except OSError:
        return False


class _Wrong(Exception):
    """A mirror sent something else than the file."""


def _reason(error: Exception) -> str:
    return str(getattr(error, "reason", None) or error or type(error).__name__).strip()


def _received(mirror: str, published: Known) -> bytes:
    """Return the file from a mirror; stop reading a reply that is too long."""
    request = urllib.request.Request(mirror + published.name)
    pieces, done = [], 0
    end = time.monotonic() + LEAST_S + published.nbytes / LOWEST_RATE
    with (
        urllib.request.urlopen(request, timeout=PATIENCE_S) as stream,
        ProgressBar(published.name, verb="fetching", unit="bytes") as bar,
    ):
        # read1 returns what has arrived; read would wait for a whole piece.
        while piece := stream.read1(_PIECE):
            done += len(piece)
            if time.monotonic() > end:
                raise _Wrong(
                    f"was too slow: {done:,} of {published.nbytes:,} bytes arrived"
                )
            if done > published.nbytes:
                raise _Wrong(f"sent more than the {published.nbytes:,} bytes it has")
            pieces.append(piece)
            bar(done, published.nbytes)
    if done < published.nbytes:
        raise _Wrong(f"sent {done:,} of {published.nbytes:,} bytes")
    content = b"".join(pieces)
    digest = hashlib.sha256(content).hexdigest()
    if digest != published.sha256:
        raise _Wrong(f"sent something whose SHA-256 is {digest}")
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
