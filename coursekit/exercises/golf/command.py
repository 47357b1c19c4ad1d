"""Count Golf at the command line: ``python -m coursekit golf COMMAND``.

Kernels are simulated and cannot leave the simulator, but the compiler reads what
strangers wrote: verify boards of strangers on a machine that can be spared.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from coursekit.errors import CourseError
from coursekit.exercises.golf import board, card, holes, submission
from coursekit.exercises.golf.play import play, source_of
from coursekit.exercises.golf.score import Score


def main(arguments: Sequence[str]) -> int:
    """Run one of the commands; the exit code is 1 where something does not stand."""
    options = _parser().parse_args(arguments)
    return options.run(options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m coursekit golf",
        description="Count Golf: right kernels with the fewest counts. Anybody's "
        "machine plays a submission again; no GPU is needed.",
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    def add(name: str, run, text: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=text, description=text)
        command.set_defaults(run=run)
        return command

    hole_names = ", ".join(holes.HOLES)
    add("holes", _holes, "explain every hole")
    for name, run, text in (
        ("play", _play, "play a hole with a file, or with its starter"),
        ("submit", _submit, "play a hole, and put the result on a board"),
    ):
        command = add(name, run, text)
        command.add_argument("hole", metavar="HOLE", help=hole_names)
        command.add_argument(
            "file", metavar="FILE.cu", nargs="?" if name == "play" else None
        )
    command.add_argument("--name", required=True, help="who plays")
    _folder(command)
    command = add("verify", _verify, "play files of a board again")
    command.add_argument("files", type=Path, nargs="+", metavar="FILE.json")
    _salt(command)
    command = add("board", _board, "play a whole board again, and rank it")
    command.add_argument("hole", nargs="?", metavar="HOLE", help=hole_names)
    _folder(command)
    _salt(command)
    command = add("diff", _diff, "show what won: the second line of a board, the first")
    command.add_argument("hole", metavar="HOLE", help=hole_names)
    command.add_argument("first", type=int, nargs="?", default=2, metavar="LINE")
    command.add_argument("second", type=int, nargs="?", default=1, metavar="LINE")
    _folder(command)
    return parser


def _folder(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--folder", type=Path, default=board.own_folder(), help="default: work/golf"
    )


def _salt(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--salt",
        default="",
        metavar="WORD",
        help="draws other hidden sizes: a word that no player knew",
    )


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def _playing(name: str) -> None:
    sys.stderr.write(f"playing {name}\n")


def _holes(_options) -> int:
    _say("\n\n".join(map(card.terms, holes.HOLES.values())))
    return 0


def _played(options) -> Score:
    hole = holes.find(options.hole)
    source = hole.source if options.file is None else source_of(Path(options.file))
    score = play(hole, source)
    _say(card.text(score))
    return score


def _play(options) -> int:
    return 0 if _played(options) else 1


def _submit(options) -> int:
    submission.checked_name(options.name)
    score = _played(options)
    if not score:
        return 1
    path = submission.Submission.of(score, options.name).save(options.folder)
    _say(f"written: {path}")
    return 0


def _verify(options) -> int:
    stands = True
    for path in options.files:
        try:
            verified = submission.verify(submission.read(path), options.salt)
        except CourseError as error:
            _say(str(error))
            stands = False
            continue
        verdict = "verified" if verified else verified.trouble
        note = verified.note and "; " + verified.note
        _say(f"{submission.shown(path)}: {verdict}{note}")
        if verified:
            _say(card.text(verified.score))
        stands = stands and bool(verified)
    return 0 if stands else 1


def _board(options) -> int:
    ranking = board.leaderboard(
        options.folder, options.hole, salt=options.salt, notice=_playing
    )
    _say(repr(ranking))
    return 1 if ranking.refused else 0


def _diff(options) -> int:
    ranking = board.leaderboard(options.folder, options.hole, notice=_playing)
    _say(ranking.diff(options.hole, options.first, options.second).text)
    return 0
