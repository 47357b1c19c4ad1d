"""Pieces of chapter 02: warps, peaks, bytes in flight, and the roof."""

import numpy as np

import coursekit as ck
from coursekit.errors import CheckFailed, OutOfBoundsError
from coursekit.exercises import (
    Exercise,
    HostExercise,
    Limit,
    Mutant,
    blank,
    shuffled,
)


def one_block(n):
    """Launch a single block, with threads to spare."""
    return 1, 32 * (n // 32 + 1)


def largest_block(n):
    """Launch a single block, as large as they come."""
    return 1, 1024


def two_counts(n, generator):
    """Return what the kernel (warp, lane, n) takes."""
    return {"warp": blank(n, np.int32), "lane": blank(n, np.int32), "n": n}


def one_array(n, generator):
    """Return what the kernel (x, y, n) takes."""
    return {"x": shuffled(n, generator), "y": blank(n), "n": n}


def few(grid, block):
    """Launch the same grid for every size."""

    def launch(n):
        return grid, block

    return launch


# ---------------------------------------------------------------- 02.b


def near(found, true, name, doubts, source="the data sheet says"):
    """Demand a number, to 1 %; `doubts` are pairs of a factor and its cause."""
    if not isinstance(found, (int, float)) or isinstance(found, bool):
        raise CheckFailed.explained(
            f"{name} is {found!r}, which is no number.",
            "The function returns something else, or nothing: print shows a number, "
            "and returns none.",
            "End it with the return of the starter.",
        )
    if abs(found - true) <= 0.01 * true:
        return
    why = "A factor is left out, or divided by."
    if found > true:
        why = "There is a factor too much, or one to divide by is left out."
    for factor, cause in doubts:
        if abs(found - factor * true) <= 0.01 * factor * true:
            why = cause
    raise CheckFailed.explained(
        f"{name} is {found:,.5g}, and {source} {true:,.4g}.",
        why,
        "Write down the unit of each number, and multiply the units, too.",
    )


FLOPS = (
    (0.5, "It is half: a fused multiply-add is two operations."),
    (2, "It is twice as much: each lane starts one multiply-add per clock."),
    (1e3, "It is a thousand times too much: MHz are 10^6, and TFLOP/s 10^12."),
    (1e-3, "It is a thousand times too little: MHz are 10^6, and TFLOP/s 10^12."),
    (1e12, "Clocks are in MHz already, and MHz times operations are 10^6 per second."),
    (1e-6, "Clocks are in MHz already, and MHz times operations are 10^6 per second."),
)
THOUSAND = (1000 / 1024, "It is 2 % less: a thousand is 1000 here, and not 1024.")
BYTES = (
    THOUSAND,
    (0.25, "It is a quarter: two bits per clock are a factor, and no divisor."),
    (0.5, "It is half: each line carries two bits per clock."),
    (8, "It is eight times too much: a byte has eight bits."),
    (4, "It is four times too much: a byte has eight bits, a clock carries two."),
    (2, "It is twice as much: each line carries two bits per clock."),
    (64, "It is 64 times too much: eight bits are one byte, so divide by 8."),
    (1e3, "It is a thousand times too much: MHz are 10^6, and GB/s 10^9."),
)


def both(peaks, board):
    """Return what the student's function says of a board, as a pair."""
    found = peaks(
        board.sm_count,
        board.fp32_lanes_per_sm,
        board.boost_clock_mhz,
        board.memory_bus_bits,
        500 * board.memory_rate_gbps,  # two bits per clock, in MHz
    )
    if not isinstance(found, tuple) or len(found) != 2:
        raise CheckFailed.explained(
            f"peaks returns {found!r}, not two numbers.",
            "It has to return TFLOP/s and GB/s.",
            "End with `return tflops, gbs`.",
        )
    return found


def arithmetic(peaks, show):
    """Compare the TFLOP/s of every board with the table's."""
    doubts = FLOPS
    ratios = [_share(both(peaks, board)[0], board) for board in ck.devices().values()]
    if max(ratios) > 1.02 * min(ratios):
        doubts = [(ratio, UNEVEN) for ratio in ratios]
    for board in ck.devices().values():
        name = f"The peak of the {board.name}, in TFLOP/s,"
        found, gbs = both(peaks, board)[0], board.memory_bandwidth_gbs
        swapped = (gbs / board.fp32_tflops, "That is the bandwidth: put TFLOP/s first.")
        near(found, board.fp32_tflops, name, (*doubts, swapped))


UNEVEN = (
    "How far it is off differs from board to board: an argument is left out, or a "
    "fixed number stands in its place."
)


def _share(found, board):
    """Return the student's number as a share of the right one; 0 for no number."""
    number = isinstance(found, (int, float)) and not isinstance(found, bool)
    return found / board.fp32_tflops if number else 0


def memory(peaks, show):
    """Compare the GB/s of every board with the table's."""
    for board in ck.devices().values():
        name = f"The bandwidth of the {board.name}, in GB/s,"
        near(both(peaks, board)[1], board.memory_bandwidth_gbs, name, BYTES)


# ---------------------------------------------------------------- 02.d

UNIT = "GB/s times FLOP per byte are GFLOP/s, and the peak is in TFLOP/s."
LOW, HIGH = (0.0833, 0.5, 4.0), (30.0, 100.0, 1000.0)  # FLOP per byte


def under_the_roof(roof, intensities):
    """Compare the limit of some kernels on a few boards."""
    for name in ("H200", "RTX 4090", "A100 SXM4 40GB"):
        board = ck.device(name)
        peak, gbs = board.fp32_tflops, board.memory_bandwidth_gbs
        for x in intensities:
            true = min(peak, gbs * x / 1000)
            side = "arithmetic" if true == peak else "memory"
            found = roof(peak, gbs, x)
            if isinstance(found, (int, float)) and found > 1.01 * true:
                mixed = roof(1e9, gbs, x) == min(1e9, gbs * x)
                raise CheckFailed.explained(
                    f"roof says {found:,.4g} TFLOP/s at {x:g} FLOP per byte on the "
                    f"{name}; it allows {true:.4g} at most.",
                    UNIT if mixed else f"Here the {side} sets the limit.",
                    "The memory allows GB/s times FLOP per byte; mind the unit. Of "
                    "the two limits the lower one counts.",
                )
            where = f"At {x:g} FLOP per byte, roof"
            near(found, true, where, (THOUSAND,), f"on the {name} the limit is")


def little_per_byte(roof, show):
    """Ask about kernels that do little with each byte."""
    under_the_roof(roof, LOW)


def more_per_byte(roof, show):
    """Ask about kernels that do more with each byte, on either side of the ridge."""
    under_the_roof(roof, HIGH)


EXERCISES = (
    Exercise(
        id="02.a",
        name="warps",
        title="Who am I? Warp and lane of a thread",
        kernel="who",
        inputs=two_counts,
        outputs=("warp", "lane"),
        sizes=(0, 1, 31, 32, 33, 255, 1000),
        launches=(one_block, largest_block),
        reference=lambda v: {
            "warp": np.arange(v.n) // 32,
            "lane": np.arange(v.n) % 32,
        },
        picture=34,
        longest_warp=60,
        starter=(CheckFailed, "wrong"),
        hints=(
            "Threads 0 to 31 are warp 0, and threads 32 to 63 are warp 1. Which "
            "division of i gives 0 and 1 there?",
            "In C++, / of two ints drops the rest, and % is the rest.",
        ),
        mutants={
            "swapped": Mutant(
                mistake="Warp and lane change places.",
                edits=[("i / 32", "i + 0"), ("i % 32", "i / 32")],
                fails=(CheckFailed, "wrong"),
            ),
            "sixteen": Mutant(
                mistake="A warp is taken to have 16 threads.",
                edits=[("i / 32", "i / 16"), ("i % 32", "i % 16")],
                fails=(CheckFailed, "wrong"),
            ),
            "from_one": Mutant(
                mistake="The lanes are counted from 1.",
                edits=[("i % 32", "i % 32 + 1")],
                fails=(CheckFailed, "wrong"),
            ),
            "lane_of_the_block": Mutant(
                mistake="The lane is the number in the block.",
                edits=[("i % 32", "i")],
                fails=(CheckFailed, "wrong"),
            ),
        },
    ),
    HostExercise(
        id="02.b",
        name="peaks",
        title="Peaks from five numbers",
        function="peaks",
        checks=(
            ("the arithmetic of each board of the table", arithmetic),
            ("and its memory", memory),
        ),
        starter=(CheckFailed, "The peak of the V100"),
        hints=(
            "Each SM has many lanes, and each lane finishes one fused multiply-add "
            "per clock. How many operations is that?",
            "Each line of the bus carries two bits per clock of the memory, and a "
            "byte has eight bits.",
        ),
        mutants={
            "one_operation": Mutant(
                mistake="A fused multiply-add counts as one operation.",
                edits=[("lanes_per_sm * 2 * clock", "lanes_per_sm * clock")],
                fails=(CheckFailed, "a fused multiply-add is two operations"),
            ),
            "gigaflops": Mutant(
                mistake="The result is in GFLOP/s.",
                edits=[("clock_mhz / 1e6", "clock_mhz / 1e3")],
                fails=(CheckFailed, "a thousand times too much: MHz are 10^6, and T"),
            ),
            "bits": Mutant(
                mistake="The result is in Gbit/s.",
                edits=[("memory_mhz / 8 / 1e3", "memory_mhz / 1e3")],
                fails=(CheckFailed, "a byte has eight bits"),
            ),
            "bits_and_eight": Mutant(
                mistake="The bits are multiplied by eight.",
                edits=[("memory_mhz / 8 / 1e3", "memory_mhz * 8 / 1e3")],
                fails=(CheckFailed, "so divide by 8"),
            ),
            "no_lanes": Mutant(
                mistake="An SM is taken for one lane.",
                edits=[("sms * lanes_per_sm *", "sms *")],
                fails=(CheckFailed, "an argument is left out, or a fixed number"),
            ),
            "lanes_of_one_board": Mutant(
                mistake="Each SM is taken to have 128 lanes.",
                edits=[("sms * lanes_per_sm *", "sms * 128 *")],
                fails=(CheckFailed, "an argument is left out, or a fixed number"),
            ),
            "swapped": Mutant(
                mistake="The two results change places.",
                edits=[("return tflops, gbs", "return gbs, tflops")],
                fails=(CheckFailed, "That is the bandwidth: put TFLOP/s first"),
            ),
            "powers_of_two": Mutant(
                mistake="A thousand is taken for 1024.",
                edits=[("/ 8 / 1e3", "/ 8 / 1024")],
                fails=(CheckFailed, "a thousand is 1000 here, and not 1024"),
            ),
            "four_operations": Mutant(
                mistake="A fused multiply-add counts as four operations.",
                edits=[("lanes_per_sm * 2 * clock", "lanes_per_sm * 4 * clock")],
                fails=(CheckFailed, "each lane starts one multiply-add per clock"),
            ),
            "one_edge": Mutant(
                mistake="One bit per line and clock.",
                edits=[("bus_bits * 2 *", "bus_bits *")],
                fails=(CheckFailed, "carries two bits per clock"),
            ),
        },
    ),
    Exercise(
        id="02.c",
        name="in_flight",
        title="Sixteen bytes in flight per thread",
        kernel="copy",
        inputs=one_array,
        outputs=("y",),
        sizes=(0, 4, 32, 128, 132, 1020, 1028),
        picture=8,
        launches=(few(2, 64), few(1, 32)),
        owner=None,
        reference=lambda v: v.x,
        starter=(CheckFailed, "global_load_requests is"),
        hints=(
            "How many float4 do n floats make? The loop counts those.",
            "float4 *target = reinterpret_cast<float4 *>(y); sees y as float4, and "
            "target[i] is four floats. x is const: the same with const float4 *.",
        ),
        mutants={
            "guard_of_floats": Mutant(
                mistake="The loop counts floats, and the index counts float4.",
                edits=[("i < n / 4", "i < n")],
                fails=(OutOfBoundsError, "but x has"),
            ),
            "one_less": Mutant(
                mistake="The last four values are left out.",
                edits=[("i < n / 4", "i < n / 4 - 1")],
                fails=(CheckFailed, "never written"),
            ),
            "four_loads": Mutant(
                mistake="A thread copies four neighbours with four loads.",
                edits=[
                    (
                        "target[i] = source[i];",
                        "for (int j = 0; j < 4; j++)\n"
                        "            y[4 * i + j] = x[4 * i + j];",
                    ),
                    (
                        "    const float4 *source = reinterpret_cast"
                        "<const float4 *>(x);\n",
                        "",
                    ),
                    ("    float4 *target = reinterpret_cast<float4 *>(y);\n", ""),
                ],
                fails=(CheckFailed, "global_load_requests is"),
            ),
            "four_stores": Mutant(
                mistake="A thread loads a float4, and stores its parts one by one.",
                edits=[
                    (
                        "target[i] = source[i];",
                        "{\n        float4 four = source[i];\n"
                        "        y[4 * i] = four.x;\n"
                        "        y[4 * i + 1] = four.y;\n"
                        "        y[4 * i + 2] = four.z;\n"
                        "        y[4 * i + 3] = four.w;\n    }",
                    ),
                    ("    float4 *target = reinterpret_cast<float4 *>(y);\n", ""),
                ],
                fails=(CheckFailed, "global_store_requests is"),
            ),
        },
        limits=(
            Limit(
                counter="global_load_requests",
                size=1024,
                most=8,
                why="1024 floats are 8 requests if each of the 32 lanes loads "
                "16 bytes at once.",
            ),
            Limit(
                counter="global_store_requests",
                size=1024,
                most=8,
                why="1024 floats are 8 requests if each of the 32 lanes stores "
                "16 bytes at once.",
            ),
        ),
    ),
    HostExercise(
        id="02.d",
        name="roof",
        title="The roof of a board",
        function="roof",
        checks=(
            ("kernels that do little with each byte", little_per_byte),
            ("and kernels that do more", more_per_byte),
        ),
        starter=(CheckFailed, "Here the memory sets the limit"),
        hints=(
            "A memory of 1000 GB/s and a kernel of 2 FLOP per byte: how many "
            "operations per second have their bytes?",
            "These are 2000 GFLOP/s, which are 2 TFLOP/s. min(a, b) is the lower one.",
        ),
        mutants={
            "no_unit": Mutant(
                mistake="GFLOP/s are compared with TFLOP/s.",
                edits=[(" / 1000", "")],
                fails=(CheckFailed, "are GFLOP/s, and the peak is in TFLOP/s"),
            ),
            "memory_only": Mutant(
                mistake="The arithmetic has no limit.",
                edits=[
                    (
                        "min(peak_tflops, memory_gbs * flop_per_byte / 1000)",
                        "memory_gbs * flop_per_byte / 1000",
                    ),
                ],
                fails=(CheckFailed, "Here the arithmetic sets the limit"),
            ),
            "higher": Mutant(
                mistake="The higher limit counts.",
                edits=[("min(", "max(")],
                fails=(CheckFailed, "Here the memory sets the limit"),
            ),
            "one_ridge": Mutant(
                mistake="The ridge of one board stands for that of all.",
                edits=[
                    (
                        "min(peak_tflops, memory_gbs * flop_per_byte / 1000)",
                        "(peak_tflops if flop_per_byte > 14\n"
                        "            else memory_gbs * flop_per_byte / 1000)",
                    ),
                ],
                fails=(CheckFailed, "on the RTX 4090; it allows 30.24 at most"),
            ),
            "bits": Mutant(
                mistake="The bytes are taken for bits.",
                edits=[("/ 1000", "/ 8000")],
                fails=(CheckFailed, "and on the H200 the limit is 0.3998"),
            ),
            "divided": Mutant(
                mistake="The bandwidth is divided by the operations per byte.",
                edits=[("memory_gbs * flop", "memory_gbs / flop")],
                fails=(CheckFailed, "Here the memory sets the limit"),
            ),
        },
    ),
)
