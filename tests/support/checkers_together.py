"""Several checkers that watch one launch, each as if it were alone.

Most of what a checker costs is the interpreter that it watches. Alone, racecheck may be
compiled if a launch is long, which a launch with other checkers cannot be.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Sequence
from dataclasses import dataclass

from coursekit.analysis import checking, unset_variables
from coursekit.errors import KernelError
from coursekit.runtime.launching import simulate
from coursekit.simt.checks.barriers import SyncCheck
from coursekit.simt.checks.bounds import MemCheck
from coursekit.simt.checks.findings import ERROR, Collector, Findings
from coursekit.simt.checks.races import RaceCheck
from coursekit.simt.checks.values import InitCheck
from coursekit.simt.checks.watching import Enough, Observer
from coursekit.simt.run.limits import GLANCE_WORK

CHECKERS = ("memcheck", "initcheck", "synccheck", "racecheck")
OBSERVERS = {"memcheck": MemCheck, "racecheck": RaceCheck, "synccheck": SyncCheck}
EVENTS = [
    name
    for name, value in vars(Observer).items()
    if callable(value) and name[0] != "_"
    if name not in ("configured", "watched", "attach", "locate")
]


class UpToFirstError(Collector):
    """Ends the launch where the error is found that all its findings begin with."""

    def add(self, severity, key, count, make) -> None:
        """Add a finding; raise Enough if it is an error, and the first finding."""
        super().add(severity, key, count, make)
        # A note that stands before it may yet become an error.
        if severity == ERROR and len(self._entries) == 1:
            raise Enough


class Together(Observer):
    """Passes everything on to the observers of several checkers."""

    def __init__(self, observers: dict[str, Observer]):
        self.all = observers
        for name in EVENTS:
            setattr(self, name, _passed_on(name, observers.values()))
        if "memcheck" in observers:  # which skips what memory refuses
            self.locate = observers["memcheck"].locate

    @classmethod
    def of(cls, checkers: Sequence[str], names: frozenset[str]) -> Together:
        """Make the observers of some checkers; `names` as for InitCheck."""
        made = OBSERVERS | {"initcheck": lambda: InitCheck(names)}
        return cls({checker: made[checker]() for checker in checkers})

    def attach(self, launch):
        """Begin to observe; the program that runs reports to this observer alone."""
        for each in self.all.values():
            each.attach(launch)
        return super().attach(launch)

    def fill(self, staged) -> None:
        """Tell initcheck of the regions that nobody has filled."""
        if "initcheck" in self.all:
            self.all["initcheck"].fresh = checking._fresh(staged)

    def stop(self, error: KernelError) -> None:
        """Note the error that ended the launch, once for each checker."""
        for each in self.all.values():
            Collector.add(each.found, ERROR, _place(error), 1, lambda: error)


def _place(error: KernelError) -> tuple:
    return type(error), error.file, error.line


def _passed_on(name: str, observers):
    """What tells an event to those observers that do something then."""
    plain = getattr(Observer, name)
    told = [
        getattr(one, name) for one in observers if getattr(type(one), name) is not plain
    ]
    if len(told) == 1:
        return told[0]

    def tell(*arguments):
        for each in told:
            each(*arguments)

    return tell


@dataclass(frozen=True)
class Watched:
    """A launch that several checkers have watched.

    Attributes
    ----------
    findings : dict of str to Findings
        What each found; initcheck without the variables of threads.
    arguments : tuple
        The arguments after the launch.
    names : frozenset of str
        Variables that the source declares without a value.
    work : int
        Warp instructions that were executed.
    """

    launch: tuple
    findings: dict[str, Findings]
    arguments: tuple
    names: frozenset[str]
    work: int

    @property
    def is_long(self) -> bool:
        """Whether racecheck alone may have compiled the launch."""
        return self.work > GLANCE_WORK

    def of(self, checker: str) -> Findings:
        """All that one checker finds when it is asked alone."""
        found = self.findings[checker]
        if checker == "initcheck" and all(
            one.kind == "UninitializedReadError" for one in found
        ):
            return found.joined(checking._of_variables(self.names, self.launch))
        return found


def watch(
    checkers, launch: tuple, *, until: str = "", results: bool = False
) -> Watched:
    """Let checkers watch a launch, up to the first error of the checker `until`.

    A launch is kernel, grid, block, arguments, shared_bytes, cooperative. Its arrays
    are copied, and brought back, where `results` are asked for.
    """
    kernel, grid, block, args, shared_bytes, cooperative = launch
    names = unset_variables.names(kernel)
    observer = Together.of(checkers, names)
    if until:
        observer.all[until].found = UpToFirstError()
    arguments = copy.deepcopy(args) if results else args
    with contextlib.suppress(Enough):
        launched = simulate(
            kernel, grid, block, arguments,
            shared_bytes=shared_bytes, cooperative=cooperative,
            before=observer.fill, keep=(KernelError,), observer=observer,
        )  # fmt: skip
        if results:
            launched.staged.copy_back()
        if launched.error is not None:
            observer.stop(launched.error)
    found = {
        name: one.found.findings(name, kernel.name)
        for name, one in observer.all.items()
    }
    return Watched(launch, found, arguments, names, observer.launch.work)


def check(
    kernel, grid, block, args, *, shared_bytes=0, cooperative=False
) -> dict[str, Findings]:
    """What each of CHECKERS finds in a launch."""
    launch = kernel, grid, block, args, shared_bytes, cooperative
    watched = watch(CHECKERS, launch)
    return {name: watched.of(name) for name in CHECKERS}
