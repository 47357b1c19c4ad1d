"""The first "your turn" of chapter 27: least times of a training step."""

from coursekit.errors import CheckFailed
from coursekit.exercises import HostExercise, Mutant

LAUNCH_US, BYTES_PER_US, FLOPS_PER_US = 3, 4800e9 / 1e6, 66.9e12 / 1e6
STEPS = ((1, 4800, 66.9), (47, 196e6, 1.6e9), (7, 12.2e9, 102e9))


def three_quotients(bounds_us, show):
    """Compare each bound with the quotient, for steps of three sizes."""
    for kernels, nbytes, flops in STEPS:
        found = bounds_us(kernels, nbytes, flops)
        if not isinstance(found, tuple) or len(found) != 3:
            raise CheckFailed.explained(
                f"bounds_us({kernels}, {nbytes:g}, {flops:g}) returns {found!r}.",
                "Three numbers are wanted: launches, memory, lanes.",
                "Return them with commas between them.",
            )
        wanted = {
            "launches": LAUNCH_US * kernels,
            "memory": nbytes / BYTES_PER_US,
            "lanes": flops / FLOPS_PER_US,
        }
        for (name, us), own in zip(wanted.items(), found, strict=True):
            if not 0.999 < own / us < 1.001:
                raise CheckFailed.explained(
                    f"{kernels} kernels, {nbytes:g} bytes, {flops:g} FLOP: the time "
                    f"of {name} is {us:.4g} us, and yours is {own:.4g}.",
                    "A power of ten is missing, or product and quotient are mixed up.",
                    "A microsecond is 1e-6 s, GB is 1e9 bytes, TFLOP is 1e12 FLOP.",
                )


EXERCISES = (
    HostExercise(
        id="27.a",
        name="bounds",
        title="Three least times",
        stars=0,
        function="bounds_us",
        checks=(("each bound is right", three_quotients),),
        hints=(
            "How many bytes does memory move in one microsecond, at 4,800 GB per "
            "second? 1 GB per second is 1,000 bytes per microsecond.",
            "Memory: bytes_moved / 4800e3. Lanes: flops / 66.9e6.",
        ),
        starter=(CheckFailed, "the time of launches is 3 us, and yours is 0"),
        mutants={
            "milliseconds": Mutant(
                mistake="The bytes of a millisecond are taken for a microsecond's.",
                edits=[("4800e3", "4800e6")],
                fails=(CheckFailed, "the time of memory"),
            ),
            "gigaflops": Mutant(
                mistake="Tera is taken for giga.",
                edits=[("66.9e6", "66.9e3")],
                fails=(CheckFailed, "the time of lanes"),
            ),
            "other_order": Mutant(
                mistake="Memory and lanes change places.",
                edits=[
                    (
                        "bytes_moved / 4800e3, flops / 66.9e6",
                        "flops / 66.9e6, bytes_moved / 4800e3",
                    )
                ],
                fails=(CheckFailed, "the time of memory"),
            ),
        },
    ),
)
