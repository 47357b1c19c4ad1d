"""Exercise 02.2: a table that circulates, with eight errors to find."""

from typing import NamedTuple

import coursekit as ck
from coursekit.errors import CheckFailed
from coursekit.exercises import HostExercise, Mutant

NAMED = 3  # that many errors are left before the check names one
SLACK = 0.01  # data sheets round


class Row(NamedTuple):
    """A value that circulates, the right one, and where to look it up."""

    said: object
    true: object
    look: str


def rows():
    """Return the rows of the table by their names."""
    v100, a100 = ck.device("V100 SXM2 16GB"), ck.device("A100 SXM4 40GB")
    h100, pcie = ck.device("H100 SXM"), ck.device("H100 PCIe")
    # An SM reads 128 bytes of shared memory per clock, a word from each bank.
    shared_tbs = a100.sm_count * 128 * a100.boost_clock_mhz * 1e6 / 1e12
    return {
        "V100 SXM2: generation of its tensor cores": Row(
            2,
            v100.tensor_core_generation,
            "Before the architecture of the V100, no GPU had tensor cores.",
        ),
        "A100: KiB of L1 and shared memory together, per SM": Row(
            292,
            a100.l1_and_shared_bytes_per_sm // 1024,
            "L1 and shared memory are one array; somebody added a part to the whole.",
        ),
        "A100: KiB of shared memory per SM, at most": Row(
            128,
            a100.shared_bytes_per_sm // 1024,
            'ck.device("A100 SXM4 40GB") has a line on shared memory; 128 is of '
            "another chip.",
        ),
        "A100 SXM4 40GB: kind of memory": Row(
            "HBM2e",
            a100.memory_type,
            "The boards with 40 and with 80 GB differ in the kind of memory, too.",
        ),
        "A100 SXM4 40GB: GB/s of its memory": Row(
            1555,
            a100.memory_bandwidth_gbs,
            "5,120 lines at 2.43 Gbit/s each give it.",
        ),
        "A100: SMs in use": Row(
            108,
            a100.sm_count,
            "The chip has 128 SMs, and the board that is sold uses some of them.",
        ),
        "A100: TB/s of the shared memories of all SMs": Row(
            19.5,
            shared_tbs,
            "Each SM reads 128 bytes per clock; multiply by the SMs and the clock.",
        ),
        "RTX 3070: GB/s of its memory": Row(
            100,
            ck.device("RTX 3070").memory_bandwidth_gbs,
            "256 lines at 14 Gbit/s each: your function peaks does the rest.",
        ),
        "H100 SXM: GB/s of its memory": Row(
            3000,
            h100.memory_bandwidth_gbs,
            "An estimate from before the board was sold; 5,120 lines at 5.24 Gbit/s.",
        ),
        "H100 SXM: TFLOP/s in FP16, no sparsity": Row(
            1979,
            h100.fp16_tensor_tflops,
            "Half of the products are skipped where matrices are sparse, and the "
            "number that is advertised counts them.",
        ),
        "H100 PCIe: SMs in use": Row(
            132,
            pcie.sm_count,
            "The board that is cooled by air uses fewer SMs than the SXM module.",
        ),
        "RTX 4090: TFLOP/s in FP32": Row(
            82.6,
            ck.device("RTX 4090").fp32_tflops,
            "128 SMs of 128 lanes, two operations per clock, 2.52 GHz.",
        ),
    }


def is_right(value, true):
    """Compare a value with the right one: counts and texts exactly, rates to 1 %."""
    if isinstance(true, str):
        return isinstance(value, str) and value.replace(" ", "").lower() == (
            true.lower()
        )
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    slack = 0 if isinstance(true, int) else SLACK * true
    return number and abs(value - true) <= slack


def whole(table, show):
    """Look for rows that are missing or new."""
    found, expected = table(), rows()
    if not isinstance(found, dict):
        raise CheckFailed.explained(
            f"table returns {type(found).__name__}, not a dict.",
            "The braces or the return are gone.",
            'ck.reset("02.2") shows the starter.',
        )
    strange = sorted(set(found) ^ set(expected), key=str)
    if strange:
        raise CheckFailed.explained(
            f"The row {strange[0]!r} is missing, or new.",
            "The text in front of the colon names a row for the check.",
            "Change only what stands behind a colon.",
        )


def right_ones_stay(table, show):
    """Look for right values that were changed."""
    found = table()
    for name, row in rows().items():
        if is_right(row.said, row.true) and not is_right(found[name], row.true):
            raise CheckFailed.explained(
                f"{name}: {row.said} was right, and {found[name]} is not.",
                row.look,
                "Put the value back.",
            )


def errors_found(table, show):
    """Count the errors that are left; name one when there are few."""
    found, left = table(), []
    for name, row in rows().items():
        if is_right(found[name], row.true):
            continue
        left.append(name)
        if found[name] != row.said:
            raise CheckFailed.explained(
                f"{name}: {row.said} is an error, and so is {found[name]!r}.",
                in_another_form(found[name], row.true) or row.look,
                "Look it up with ck.device, or compute it.",
            )
    if len(left) > NAMED:
        raise CheckFailed.explained(
            f"{8 - len(left)} of 8 errors are corrected.",
            "The values of the table come from other boards, from advertisements, "
            "and from estimates.",
            "Look each row up with ck.device(...), or compute it.",
        )
    if left:
        raise CheckFailed.explained(
            f"{8 - len(left)} of 8 errors are corrected. One that is left: {left[0]}.",
            rows()[left[0]].look,
            "Look it up with ck.device, or compute it.",
        )


def in_another_form(value, true):
    """Return what is wrong where the text or the unit is; otherwise nothing."""
    if isinstance(true, str):
        return ""
    if isinstance(value, str):
        return "A text stands where a number belongs."
    for factor in (1000, 1024):
        if is_right(value * factor, true) or is_right(value / factor, true):
            return "The number is right in another unit: the row's text has the unit."
    return ""


def left_in(right, wrong, row):
    """Return a mutant in which one error is still there."""
    return Mutant(
        mistake=f"One error is left: {row}.",
        edits=[(f'{row}": {right},', f'{row}": {wrong},')],
        fails=(CheckFailed, f"7 of 8 errors are corrected. One that is left: {row}"),
    )


EXERCISES = (
    HostExercise(
        id="02.2",
        name="errors",
        title="Find the eight errors",
        stars=2,
        function="table",
        checks=(
            ("the table has its rows", whole),
            ("right values stay", right_ones_stay),
            ("the errors are found", errors_found),
        ),
        starter=(CheckFailed, "0 of 8 errors are corrected"),
        hints=(
            'ck.device("A100 SXM4 40GB") shows what the data sheet says. Begin with '
            "the rows on memory.",
            'ck.chip_explorer("H100 SXM", "H100 PCIe") compares two boards. Which '
            "rows of the table fit one of them, and not the other?",
            "Four values are right: 1555, 108, 19.5 and 82.6. Generations of tensor "
            "cores are counted from Volta, the architecture of the V100.",
        ),
        mutants={
            "generation": left_in(
                "1", "2", "V100 SXM2: generation of its tensor cores"
            ),
            "sum_of_a_part": left_in(
                "192", "292", "A100: KiB of L1 and shared memory together, per SM"
            ),
            "other_chip": left_in(
                "164", "128", "A100: KiB of shared memory per SM, at most"
            ),
            "kind_of_memory": left_in(
                '"HBM2"', '"HBM2e"', "A100 SXM4 40GB: kind of memory"
            ),
            "slow_memory": left_in("448", "100", "RTX 3070: GB/s of its memory"),
            "estimate": left_in("3352", "3000", "H100 SXM: GB/s of its memory"),
            "sparsity": left_in(
                "989", "1979", "H100 SXM: TFLOP/s in FP16, no sparsity"
            ),
            "other_board": left_in("114", "132", "H100 PCIe: SMs in use"),
            "whole_chip": Mutant(
                mistake="All SMs of the chip are counted.",
                edits=[('use": 108,', 'use": 128,')],
                fails=(CheckFailed, "108 was right, and 128 is not"),
            ),
            "other_wrong_value": Mutant(
                mistake="The error is seen, and another value is wrong as well.",
                edits=[('most": 164,', 'most": 100,')],
                fails=(CheckFailed, "128 is an error, and so is 100"),
            ),
            "other_unit": Mutant(
                mistake="TB/s stand where GB/s are asked for.",
                edits=[('memory": 3352,', 'memory": 3.352,')],
                fails=(CheckFailed, "right in another unit"),
            ),
            "text": Mutant(
                mistake="A text stands where a number belongs.",
                edits=[('cores": 1,', 'cores": "1st",')],
                fails=(CheckFailed, "A text stands where a number belongs"),
            ),
            "of_a_block": Mutant(
                mistake="The most that a block may have stands for what an SM has.",
                edits=[('most": 164,', 'most": 163,')],
                fails=(CheckFailed, "128 is an error, and so is 163"),
            ),
            "row_gone": Mutant(
                mistake="A row is deleted.",
                edits=[('        "A100: SMs in use": 108,\n', "")],
                fails=(CheckFailed, "is missing, or new"),
            ),
        },
    ),
)
