"""Limits for a process that runs what may take too much, set by itself."""

from __future__ import annotations


def limit(name: str, soft: int, more: int = 0) -> None:
    """Set a limit of this process, at most to the one that it has already.

    Parameters
    ----------
    name : str
        As the module `resource` calls it, without RLIMIT_: "CPU", "DATA", ...
    soft : int
        From here on the process is told, by a signal or an error.
    more : int
        How much further it may go before it is ended.
    """
    import resource

    which = getattr(resource, f"RLIMIT_{name}")
    _, hard = resource.getrlimit(which)
    highest = soft + more
    if hard != resource.RLIM_INFINITY:
        soft, highest = min(soft, hard), min(highest, hard)
    resource.setrlimit(which, (soft, highest))
