"""Exercises of chapter 06: chunks, packing, fusion, a leak."""

import numpy as np

from coursekit.errors import CheckFailed, DeviceError, OutOfBoundsError
from coursekit.exercises import (
    Exercise,
    HostExercise,
    Limit,
    Mutant,
    blank,
    blocks,
    shuffled,
)
from coursekit.lessons.memory_ledger import MemoryLedger

# 06.3: 5,952 elements at size 64 fill 744 sectors; a request of a warp begins and ends
# inside of one, so each piece has a few more. Alone, each element takes a sector.
PACKED = Limit(
    counter="global_store_sectors",
    size=64,
    most=1100,
    why="5,952 elements fill 744 sectors, and each piece has two ends.",
)
# 06.4: arrays of 4096 floats have 512 sectors each.
FUSED = (
    Limit(
        counter="global_load_sectors",
        size=4096,
        most=1024,
        why="x and b have 512 sectors each, and nothing else has to be read.",
    ),
    Limit(
        counter="global_store_sectors",
        size=4096,
        most=512,
        why="y has 512 sectors, and each is written once.",
    ),
)


def one_chunk(sizes, generator):
    """Return what the kernel of 06.2 takes; y holds values that must stay."""
    n, size, chunk = sizes
    x, y = shuffled(n, generator), -shuffled(n, generator)
    return {"x": x, "y": y, "n": n, "size": size, "chunk": chunk}


def doubled(v):
    """Return y with one chunk of it doubled from x."""
    part = slice(v.chunk * v.size, (v.chunk + 1) * v.size)
    expected = v.y.copy()
    expected[part] = 2 * v.x[part]
    return expected


def chunk_grid(block):
    """Cover one chunk with blocks of so many threads."""
    return lambda sizes: (blocks(sizes[1], block), block)


def pieces_of(pieces, generator):
    """Return what the kernel of 06.3 takes: pieces of 3 to 202 elements."""
    number = np.arange(pieces)
    lengths = 3 + number * (number + 1) % 200
    places = np.concatenate([[0], np.cumsum(lengths)])
    order = generator.permutation(pieces)
    ends = np.cumsum(lengths[order] + 1 + number % 3)
    starts = np.zeros(pieces, np.int32)
    starts[order] = ends - lengths[order]
    return {
        "x": shuffled(int(ends[-1]) + 1, generator),
        "starts": starts,
        "places": places.astype(np.int32),
        "out": blank(int(places[-1])),
        "pieces": pieces,
    }


def packed(v):
    """Return the pieces one behind the other."""
    pairs = zip(v.starts, np.diff(v.places), strict=True)
    return np.concatenate([v.x[start : start + length] for start, length in pairs])


def both_signs(n, generator):
    """Return what the kernel of 06.4 takes."""
    middle = np.float32(0.25 * (n // 2))
    x, b = shuffled(n, generator) - middle, shuffled(n, generator) - middle
    return {"x": x, "b": b, "y": blank(n), "n": n}


def half_a_grid(block):
    """Launch half of the blocks that n needs, so that threads come round again."""
    return lambda n: (max(1, blocks(n, block) // 2), block)


def some_arrays():
    """Return arrays of which one has a single element."""
    return [np.arange(1, n + 1, dtype=np.float32) for n in (3, 1000, 1, 7)]


def right_sums(totals, show):
    """Compare the sums of 06.5."""
    found, wanted = totals(MemoryLedger(), some_arrays()), [6.0, 500500.0, 1.0, 28.0]
    if list(found) != wanted:
        raise CheckFailed.explained(
            f"totals returned {found}, expected {wanted}.",
            "The list needs a sum for each array, in their order.",
            "Run the function on one array, by hand.",
        )


def nothing_left(totals, show):
    """Ask what is still out after an ordinary run."""
    gpu = MemoryLedger()
    totals(gpu, some_arrays())
    all_back(gpu, "After 4 arrays, one of them of 1 element")


def nothing_left_after_a_failure(totals, show):
    """Let the second copy fail: it must be heard of, and leave nothing."""
    gpu = MemoryLedger(fails_at=2)
    try:
        totals(gpu, some_arrays())
    except CheckFailed as failure:
        if not isinstance(failure.__cause__, RuntimeError):
            raise
    else:
        raise CheckFailed.explained(
            "A copy failed, and totals returned as if nothing had happened.",
            "The error was caught and kept.",
            "Let it go on to the caller: `finally` cleans up and catches nothing.",
        )
    all_back(gpu, "After a copy that failed")


def one_at_a_time(totals, show):
    """Ask how many arrays were on the device at the same time."""
    gpu = MemoryLedger()
    totals(gpu, some_arrays())
    if gpu.most > 1:
        raise CheckFailed.explained(
            f"{gpu.most} arrays were on the device at the same time.",
            "Memory is given back at the end only, when the device may be full.",
            "Give each array back before the next one comes.",
        )


def all_back(gpu, when):
    """Demand that all memory has been given back."""
    if gpu.out:
        raise CheckFailed.explained(
            f"{when}, memory has leaked. {gpu}.",
            "One way out of a turn of the loop passes no free.",
            "Find every way: the end of the turn, `continue`, and an exception.",
        )


EXERCISES = (
    Exercise(
        id="06.2",
        name="chunk",
        title="A chunk, ragged at the end",
        stars=1,
        kernel="double_chunk",
        inputs=one_chunk,
        outputs=("y",),
        accumulates=("y",),
        sizes=((31, 31, 0), (33, 16, 2), (100, 33, 1), (1000, 300, 3), (1025, 300, 1)),
        picture=(8, 5, 1),
        launches=(chunk_grid(256), chunk_grid(64)),
        reference=doubled,
        owner=None,
        hints=(
            "Thread i of the launch works on element i of the *chunk*. Which element "
            "of the array is that?",
            "Two guards: one for the end of the chunk, as the grid is rounded up, and "
            "one for the end of the array, as the last chunk may be shorter.",
            "int place = chunk * size + i; if (i < size && place < n) "
            "y[place] = 2.0f * x[place];",
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "no_ragged_end": Mutant(
                mistake="Every chunk is taken to be full, so the last one leaves the "
                "array.",
                edits=[("if (i < size && place < n)", "if (i < size)")],
                fails=(OutOfBoundsError, "x has 8 elements"),
            ),
            "into_the_next": Mutant(
                mistake="The guard of the array alone: spare threads work on the next "
                "chunk.",
                edits=[("if (i < size && place < n)", "if (place < n)")],
                fails=(CheckFailed, "wrong"),
            ),
            "offset_once": Mutant(
                mistake="The offset is added where it reads, and not where it writes.",
                edits=[("y[place] = 2.0f * x[place];", "y[i] = 2.0f * x[place];")],
                fails=(CheckFailed, "wrong"),
            ),
            "offset_of_blocks": Mutant(
                mistake="The chunk begins where a whole grid would, not where the "
                "chunk does.",
                edits=[("chunk * size + i", "chunk * gridDim.x * blockDim.x + i")],
                fails=(CheckFailed, "wrong"),
            ),
            "one_too_many": Mutant(
                mistake="The guard lets in the first element of the next chunk.",
                edits=[("if (i < size && place < n)", "if (i <= size && place < n)")],
                fails=(CheckFailed, "wrong"),
            ),
        },
    ),
    Exercise(
        id="06.3",
        name="pack",
        title="Many pieces, one copy",
        stars=2,
        kernel="pack",
        inputs=pieces_of,
        outputs=("out",),
        sizes=(1, 2, 3, 17, 33, 64),
        picture=2,
        launches=(lambda n: (n, 128), lambda n: (n, 32)),
        reference=packed,
        owner=None,
        hints=(
            "The pieces arrive, but each element travels in a sector of its own: one "
            "thread stores at a time. Who else is in the block?",
            "Let neighbouring threads move neighbouring elements: thread 0 the first, "
            "thread 1 the second. A piece can have more elements than threads.",
            "for (int k = threadIdx.x; k < places[p + 1] - places[p]; "
            "k += blockDim.x), without the if.",
        ),
        starter=(CheckFailed, "global_store_sectors is"),
        mutants={
            "no_loop": Mutant(
                mistake="A thread moves one element, so the end of a long piece stays "
                "behind.",
                edits=[
                    (
                        "for (int k = threadIdx.x; k < length; k += blockDim.x)",
                        "int k = threadIdx.x;\n    if (k < length)",
                    )
                ],
                fails=(CheckFailed, "never written"),
            ),
            "places_for_starts": Mutant(
                mistake="It reads where it should write.",
                edits=[("x[start + k]", "x[place + k]")],
                fails=(CheckFailed, "wrong"),
            ),
            "length_from_starts": Mutant(
                mistake="The length is taken from where pieces begin, and those are "
                "in no order.",
                edits=[("places[p + 1] - place;", "starts[p + 1] - start;")],
                fails=(OutOfBoundsError, "starts has"),
            ),
            "one_too_many": Mutant(
                mistake="Each piece takes an element of the next one with it.",
                edits=[("k < length", "k <= length")],
                fails=(OutOfBoundsError, "out has 8 elements"),
            ),
            "stride_of_the_grid": Mutant(
                mistake="The step is that of the grid, where only a block works on "
                "the piece.",
                edits=[("k += blockDim.x", "k += gridDim.x * blockDim.x")],
                fails=(CheckFailed, "never written"),
            ),
            "side_by_side": Mutant(
                mistake="Each thread moves a few elements side by side, so no request "
                "is whole.",
                edits=[
                    (
                        "for (int k = threadIdx.x; k < length; k += blockDim.x)\n"
                        "        out[place + k] = x[start + k];",
                        "int each = (length + blockDim.x - 1) / blockDim.x * 8;\n"
                        "    for (int k = threadIdx.x * each; k < (threadIdx.x + 1) "
                        "* each; k++)\n"
                        "        if (k < length)\n"
                        "            out[place + k] = x[start + k];",
                    )
                ],
                fails=(CheckFailed, "global_store_sectors is"),
            ),
        },
        limits=(PACKED,),
    ),
    Exercise(
        id="06.4",
        name="fuse",
        title="Fuse: one launch is not yet one way",
        stars=2,
        kernel="forward",
        inputs=both_signs,
        outputs=("y",),
        launches=(half_a_grid(256), half_a_grid(64)),
        reference=lambda v: np.maximum(3 * v.x + v.b, 0),
        owner=None,
        hints=(
            "The result is right, and it takes one launch. Count how often each array "
            "goes past: x once, b once, and y?",
            "A value that only its own thread needs again can stay in a variable. Then "
            "memory sees the last one only.",
            "One loop, with y[i] = fmaxf(3.0f * x[i] + b[i], 0.0f); in it.",
        ),
        starter=(CheckFailed, "global_load_sectors is"),
        mutants={
            "no_loop": Mutant(
                mistake="Without the loop the elements behind the first grid are "
                "never reached.",
                edits=[
                    (
                        "int step = gridDim.x * blockDim.x;\n"
                        "    for (int i = first; i < n; i += step)",
                        "int i = first;\n    if (i < n)",
                    )
                ],
                fails=(CheckFailed, "never written"),
            ),
            "relu_too_early": Mutant(
                mistake="The steps have changed places: what is added last can be "
                "negative.",
                edits=[("(3.0f * x[i] + b[i], 0.0f)", "(3.0f * x[i], 0.0f) + b[i]")],
                fails=(CheckFailed, "wrong"),
            ),
            "through_y": Mutant(
                mistake="One loop, but the value still goes through y on its way.",
                edits=[
                    (
                        "for (int i = first; i < n; i += step)\n"
                        "        y[i] = fmaxf(3.0f * x[i] + b[i], 0.0f);",
                        "for (int i = first; i < n; i += step) {\n"
                        "        y[i] = 3.0f * x[i];\n"
                        "        y[i] = fmaxf(y[i] + b[i], 0.0f);\n"
                        "    }",
                    )
                ],
                fails=(CheckFailed, "global_store_sectors is"),
            ),
            "two_loops": Mutant(
                mistake="Two of the three steps are one now, and the third is still "
                "to come.",
                edits=[
                    (
                        "y[i] = fmaxf(3.0f * x[i] + b[i], 0.0f);",
                        "y[i] = 3.0f * x[i] + b[i];\n"
                        "    for (int i = first; i < n; i += step)\n"
                        "        y[i] = fmaxf(y[i], 0.0f);",
                    )
                ],
                fails=(CheckFailed, "global_load_sectors is"),
            ),
            "steps_of_a_block": Mutant(
                mistake="The step is that of a block, so blocks do each other's work "
                "again.",
                edits=[
                    (
                        "int step = gridDim.x * blockDim.x;\n"
                        "    for (int i = first; i < n; i += step)",
                        "for (int i = first; i < n; i += blockDim.x)",
                    )
                ],
                fails=(CheckFailed, "global_load_sectors is"),
            ),
        },
        limits=FUSED,
    ),
    HostExercise(
        id="06.5",
        name="leak",
        title="A leak: every way out gives back",
        stars=2,
        function="totals",
        checks=(
            ("the sums are right", right_sums),
            ("nothing is left on the device", nothing_left),
            ("nor when a copy fails", nothing_left_after_a_failure),
            ("one array on the device at a time", one_at_a_time),
        ),
        hints=(
            "How many ways lead out of one turn of the loop? The last line is one of "
            "them.",
            "`continue` jumps over the free, and so does an error. What in Python runs "
            "on every way out, as a destructor does in C++?",
            "try: from the copy to the sum, and finally: gpu.free(d_array). The malloc "
            "stays in front of the try.",
        ),
        starter=(CheckFailed, "After 4 arrays, one of them of 1 element, memory has"),
        mutants={
            "only_the_single_one": Mutant(
                mistake="The way of the single element is mended; a copy that fails "
                "still leaks.",
                edits=[
                    (
                        "try:\n"
                        "            gpu.copy_in(d_array, array)  "
                        "# raises where a copy fails\n"
                        "            if array.size == 1:\n"
                        "                results.append(float(array[0]))\n"
                        "                continue",
                        "gpu.copy_in(d_array, array)\n"
                        "        if array.size == 1:\n"
                        "            results.append(float(array[0]))\n"
                        "        else:",
                    ),
                    ("finally:\n            gpu.free(d_array)", "gpu.free(d_array)"),
                ],
                fails=(CheckFailed, "After a copy that failed, memory"),
            ),
            "swallows_the_error": Mutant(
                mistake="Nothing leaks, and nobody hears that a copy has failed.",
                edits=[
                    (
                        "            if array.size == 1:\n"
                        "                results.append(float(array[0]))\n"
                        "                continue\n",
                        "",
                    ),
                    (
                        "finally:\n            gpu.free(d_array)",
                        "except RuntimeError:\n"
                        "            results.append(0.0)\n"
                        "        gpu.free(d_array)",
                    ),
                ],
                fails=(CheckFailed, "as if nothing had happened"),
            ),
            "frees_twice": Mutant(
                mistake="The memory of a single element is given back on both ways.",
                edits=[("continue", "gpu.free(d_array)\n                continue")],
                fails=(DeviceError, "freed that was given back before"),
            ),
            "frees_too_early": Mutant(
                mistake="The memory is given back in front of the kernel that reads "
                "it.",
                edits=[
                    (
                        "            if array.size == 1:\n"
                        "                results.append(float(array[0]))\n"
                        "                continue\n"
                        "            results.append(gpu.total(d_array))\n",
                        "",
                    ),
                    (
                        "return results",
                        "    results.append(gpu.total(d_array))\n    return results",
                    ),
                ],
                fails=(DeviceError, "summed that was given back before"),
            ),
            "all_at_the_end": Mutant(
                mistake="All arrays stay on the device until the last one is done.",
                edits=[
                    (
                        "results = []\n"
                        "    for array in arrays:\n"
                        "        d_array = gpu.malloc(array.nbytes)\n"
                        "        try:\n"
                        "            gpu.copy_in(d_array, array)  "
                        "# raises where a copy fails\n"
                        "            if array.size == 1:\n"
                        "                results.append(float(array[0]))\n"
                        "                continue\n"
                        "            results.append(gpu.total(d_array))\n"
                        "        finally:",
                        "held, results = [], []\n"
                        "    try:\n"
                        "        for array in arrays:\n"
                        "            held.append(gpu.malloc(array.nbytes))\n"
                        "            gpu.copy_in(held[-1], array)\n"
                        "            results.append(gpu.total(held[-1]))\n"
                        "    finally:\n"
                        "        for d_array in held:",
                    )
                ],
                fails=(CheckFailed, "at the same time"),
            ),
        },
    ),
)
