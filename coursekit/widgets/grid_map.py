"""The elements that each thread of a one-dimensional launch handles.

`js/grid_block.js` has the same sentences in JavaScript; a test compares them.
"""

from __future__ import annotations

from dataclasses import dataclass

from coursekit.errors import ArgumentError

MODES = ("guard", "grid-stride")
LIMITS = {"n": 64, "blocks": 8, "threads": 16}
INDEX = "blockIdx.x * blockDim.x + threadIdx.x"
STRIDE = "gridDim.x * blockDim.x"
_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class GridMap:
    """A launch of `blocks` blocks of `threads` threads over `n` elements.

    Attributes
    ----------
    n, blocks, threads : int
        At least 1, and small enough to draw: at most 64, 8 and 16.
    mode : str
        "guard", where a thread handles element i if ``i < n``, or "grid-stride",
        where it goes on in steps of the number of threads.

    Examples
    --------
    >>> launch = GridMap(n=20, blocks=3, threads=8)
    >>> launch.elements(11), launch.idle
    ((11,), 4)
    >>> print(launch.formula(11))
    i = blockIdx.x * blockDim.x + threadIdx.x = 1 * 8 + 3 = 11
    """

    n: int
    blocks: int
    threads: int
    mode: str = "guard"

    def __post_init__(self) -> None:
        for name, most in LIMITS.items():
            value = getattr(self, name)
            if type(value) is not int or not 1 <= value <= most:
                raise ArgumentError.explained(
                    f"The grid and block picture got {name}={value!r}.",
                    "It draws every thread and every element.",
                    f"Give a whole number from 1 to {most}.",
                )
        if self.mode not in MODES:
            raise ArgumentError.explained(
                f"The grid and block picture got mode={self.mode!r}.",
                cure=f"Give one of {', '.join(map(repr, MODES))}.",
            )

    @property
    def total(self) -> int:
        """Number of threads in the grid."""
        return self.blocks * self.threads

    def elements(self, thread: int) -> tuple[int, ...]:
        """Return the elements that a thread handles, by its number in the grid."""
        step = self.n if self.mode == "guard" else self.total
        return tuple(range(thread, self.n, step))

    def owner(self, element: int) -> int | None:
        """Return the thread that handles an element, or None."""
        if self.mode == "guard" and element >= self.total:
            return None
        return element % self.total

    @property
    def covered(self) -> int:
        """Number of elements that a thread handles."""
        return min(self.n, self.total) if self.mode == "guard" else self.n

    @property
    def idle(self) -> int:
        """Number of threads without an element."""
        return max(0, self.total - self.n)

    def place(self, thread: int) -> tuple[int, int]:
        """Return (blockIdx.x, threadIdx.x) of a thread."""
        return divmod(thread, self.threads)

    def formula(self, thread: int) -> str:
        """Return the thread's index as a formula with numbers."""
        block, inside = self.place(thread)
        return f"i = {INDEX} = {block} * {self.threads} + {inside} = {thread}"

    def meaning(self, thread: int) -> str:
        """Return what the thread does with its index, as a sentence."""
        elements = self.elements(thread)
        if not elements:
            end = "the guard sends this thread home"
            if self.mode == "grid-stride":
                end = "the loop of this thread ends before it begins"
            return f"{thread} < {self.n} is false: {end}."
        if self.mode == "guard":
            return f"{thread} < {self.n} is true: this thread handles x[{thread}]."
        return (
            f"In steps of {STRIDE} = {self.blocks} * {self.threads} = {self.total}, "
            f"as long as i < {self.n}, this thread handles {_names(elements)}."
        )

    def summary(self) -> str:
        """Return which elements the launch covers and which it misses."""
        parts = [
            f"Threads: {self.blocks} * {self.threads} = {self.total}.",
            f"Elements covered: {self.covered} of {self.n}.",
            f"Idle threads: {self.idle}.",
        ]
        if self.covered < self.n:
            parts.append(f"Without a thread: {_span(self.covered, self.n - 1)}.")
        if self.mode == "grid-stride":
            parts.append(f"Most elements of one thread: {len(self.elements(0))}.")
        return " ".join(parts)


def _names(elements: tuple[int, ...]) -> str:
    names = [f"x[{element}]" for element in elements]
    if len(names) > _MOST_NAMED:
        names[3:-1] = ["..."]
    return ", ".join(names)


def _span(first: int, last: int) -> str:
    return f"x[{first}]" if first == last else f"x[{first}] to x[{last}]"
