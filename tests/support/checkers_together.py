"""Several checkers that watch one launch, each as if it were alone.

Most of what a checker costs is the interpreter that it watches. Racecheck is not among
them: it may be compiled, which a launch with other checkers cannot be.
"""

from __future__ import annotations

from coursekit.analysis import checking, unset_variables
from coursekit.simt.checks.barriers import SyncCheck
from coursekit.simt.checks.bounds import MemCheck
from coursekit.simt.checks.findings import Findings
from coursekit.simt.checks.values import InitCheck
from coursekit.simt.checks.watching import Observer

CHECKERS = ("memcheck", "initcheck", "synccheck")


class Together(Observer):
    """Passes everything on to the observers of several checkers."""

    def __init__(self, names):
        self.bounds, self.values = MemCheck(), InitCheck(names)
        self.all = self.bounds, self.values, SyncCheck()

    @property
    def fresh(self) -> list:
        """Regions that nobody has filled."""
        return self.values.fresh

    @fresh.setter
    def fresh(self, regions) -> None:
        self.values.fresh = regions

    @property
    def found(self) -> Together:
        """What hears of an error that ends the launch."""
        return self

    def stop(self, error) -> None:
        """Note the error that ended the launch, once for each checker."""
        for each in self.all:
            each.found.stop(error)

    def findings(self, checker: str, kernel: str) -> Findings:
        """All that one checker has found."""
        return self.all[CHECKERS.index(checker)].found.findings(checker, kernel)

    configured = Observer.configured

    def attach(self, launch):
        """Begin to observe; the program that runs reports to this observer alone."""
        for each in self.all:
            each.attach(launch)
        return super().attach(launch)

    def locate(self, access, warp, addresses) -> tuple:
        """Skip what memory refuses."""
        return self.bounds.locate(access, warp, addresses)


def _passed_on(name: str):
    def method(self, *arguments):
        for each in self.all:
            getattr(each, name)(*arguments)

    return method


for _name, _value in vars(Observer).items():
    if callable(_value) and _name not in vars(Together) and _name[0] != "_":
        setattr(Together, _name, _passed_on(_name))


def check(
    kernel, grid, block, args, *, shared_bytes=0, cooperative=False
) -> dict[str, Findings]:
    """What each of CHECKERS finds in a launch."""
    launch = kernel, grid, block, args, shared_bytes, cooperative
    names = unset_variables.names(kernel)
    observer = Together(names)
    checking._observed("memcheck", observer, launch, False)
    found = {name: observer.findings(name, kernel.name) for name in CHECKERS}
    if all(one.kind == "UninitializedReadError" for one in found["initcheck"]):
        variables = checking._of_variables(names, launch)
        found["initcheck"] = found["initcheck"].joined(variables)
    return found
