"""Whatever keeps a kernel of the course right is missed when it is taken out.

Each barrier, wait and bounds test is deleted in turn; what does harm must be found by
a checker, on a line that has to do with it, or at least by a wrong result.
"""

from __future__ import annotations

import copy
import functools
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import checkers_together
import course_kernels as kernels
import mutations
import numpy as np
import pytest
from kernel_launches import plans
from launches.mnist_fast import CUT
from synchronised_kernels import KERNELS as SYNCHRONISED
from synchronised_kernels import TILES

import coursekit as ck
from coursekit.exercises import catalogue
from coursekit.exercises.checking import compiled
from coursekit.exercises.trial import Problem, Trial

pytestmark = pytest.mark.usefixtures("own_folders", "compiled_here")

# What is asked first of a mutant of each kind; a wrong result comes last.
CHECKERS = {
    mutations.BARRIER: ("racecheck", "synccheck"),
    mutations.WARP: ("racecheck", "synccheck"),
    mutations.WAIT: ("initcheck", "racecheck"),
    mutations.BOUNDS: ("memcheck", "racecheck", "initcheck"),
}
# Which of them watch one launch. Most mutants without a bounds test are found by
# memcheck, and that costs least alone. Without a wait initcheck names the better line,
# so racecheck comes when no launch has one.
TOGETHER = {kind: [checkers] for kind, checkers in CHECKERS.items()}
TOGETHER[mutations.WAIT] = [("initcheck",), ("racecheck",)]
TOGETHER[mutations.BOUNDS] = [("memcheck",), ("racecheck", "initcheck")]
# Each mutant of these takes many seconds: rings of tensor maps, three phases of the
# tuned step, and the step in one kernel, which has the phases of the seven.
ELSEWHERE = (
    "convolution/step_06_tma_wgmma.cu",
    "convolution/step_07_halo.cu",
    "mnist_fast/persistent.cu",
    "mnist_tuned/backward_convolution.cu",
    "mnist_tuned/forward_convolutions.cu",
    "mnist_tuned/forward_hidden.cu",
)
# Where a launch takes half a second there are few of them, and racecheck is the only
# checker; of a bounds test only results are asked: a launch finds by itself what is
# outside of an array.
SMALL, LARGE = {"N": 2, "sms": 1}, {"N": 2, "sms": 1, "side": 24}
RING = {"rows": 5, "share": 2, "slots": 2, "teams": 1}
FEW = {
    "fft/step_23_two_exchanges.cu": [{"rows": 1, "middle": 2, "share": 4}],
    "fft/step_24_three_exchanges.cu": [
        {"rows": 1, "a": 8, "b": 8, "c": 8, "d": 8, "share": 4}
    ],
    "mnist_fast/moments.cu": [SMALL],
    "mnist_fast/forward_convolutions.cu": [SMALL, CUT],
    "mnist_fast/forward_hidden.cu": [SMALL],
    "mnist_fast/head.cu": [SMALL],
    "mnist_fast/backward_hidden.cu": [SMALL],
    "mnist_fast/backward_convolution.cu": [SMALL, LARGE],
    "mnist_fast/update.cu": [SMALL],
    "mnist_tuned/moments.cu": [{"sms": 1}],
    "row_pipeline.cuh": [RING | {"cols": 77}, RING | {"cols": 5}],
    "mnist_tuned/backward_hidden.cu": [{"N": 66, "first": 1}],  # two tiles of rows
    "mnist_tuned/head.cu": [{}, {"sms": 1}],  # a block a picture, a warp a picture
    "mnist_tuned/update.cu": [{"first": 10}, {"first": 300}],
    "mnist_tuned/forward_convolutions_float32.cu": [SMALL, {"N": 2, "sms": 4}],
    "mnist_tuned/backward_convolution_float32.cu": [SMALL],
    "mnist_tuned/float32_by_data.cuh": [SMALL | {"role": "data"}],
    "mnist_tuned/float32_by_weights.cuh": [SMALL | {"role": "weights"}],
}
# The kernel in which the mutants of a header are compiled. What warpgroups.cuh has goes
# unnoticed: the simulator's products are complete at once, and read what is stored.
HEADERS = {
    "mnist_fast/hidden.cuh": "mnist_fast/backward_hidden.cu",
    "mnist_fast/pictures.cuh": "mnist_fast/forward_convolutions.cu",
    "mnist_fast/statistics.cuh": "mnist_fast/update.cu",
    "mnist_tuned/first_layer.cuh": "mnist_tuned/forward_convolutions_float32.cu",
    "mnist_tuned/float32_by_data.cuh": "mnist_tuned/backward_convolution_float32.cu",
    "mnist_tuned/float32_by_weights.cuh": "mnist_tuned/backward_convolution_float32.cu",
    "cluster.cuh": "softmax/step_07_cluster.cu",
    "fft/in_place.cuh": "fft/step_15_in_place.cu",
    "fft/mixed.cuh": "fft/step_20_mixed_radix.cu",
    "layernorm/row.cuh": "layernorm/step_03_registers.cu",
    "row_pipeline.cuh": "layernorm/step_08_pipeline.cu",
    "softmax/row.cuh": "softmax/step_07_cluster.cu",
}
# Of these the compiler parses a second long; it keeps what it has parsed, in a folder.
SLOW = re.compile(r"#include <c(?:uda/atomic|ooperative_groups\.h)>")
_KEPT = tempfile.TemporaryDirectory()
HEADERS_KEPT = Path(_KEPT.name)
DEAR = FEW.keys() | {name for name in HEADERS if name.startswith("mnist_")}
ORDERS = ("forward", "reverse")
TIMEOUT_S = 20
# Mutants that do no harm, and why: (file, line, what was deleted).
NOTHING_TO_ADD, IN_VAIN = "it saves an atomic that adds 0", "other warps add in vain"
ZEROS = "zeros arrive, which nobody reads"
LATE = f"{ZEROS}; on a GPU they may come when the block has gone"
NO_PHASE = "who waits for the phase before the first does not wait"
RELEASED = "a thread that has stored nothing releases nothing, and may say so"
UNSHARED = "in the simulator no row is shared by blocks: the branch is compiled out"
EARLY = "pairs are read before they are told"
UNTOLD = "values are read before other blocks have stored them"
TWICE = "threads arrive there again, and have not waited"
CONSTANT = "the compiler knows: no picture is so small that the cut lies further down"
UNTIMED = "it separates the reading from the walk that is timed; values are the same"
SAME_ROW = "the other block stores the same values in that row"
UNSTORED = "sums are made in vain, which nobody stores"
IN_ORDER = "in the simulator a kernel begins when the one before has ended"
BETWEEN = "zeros lie before the barrier of fold_bn1, and its sums before the picture's"
ASKED = "a row that is asked for in L2, or not, changes no result"
BANKS = "other places stay free, and accesses to more of them share a bank"
COPIES = "conv2's weights, whose copies begin there, are read while they come"
HARMLESS = {
    ("solutions/08_synchronisation/1_running_maximum.cu", 14, "i >= away"):
        "`other` is 0 there, and the inputs are all positive",
    ("histogram/step_03_warps.cu", 34, "sum > 0"): NOTHING_TO_ADD,
    ("histogram/step_04_lanes.cu", 36, "sum > 0"): NOTHING_TO_ADD,
    ("histogram/step_05_vectorised.cu", 63, "sum > 0"): NOTHING_TO_ADD,
    ("solutions/10_reductions/g_columns.cu", 16, "sum > 0"): NOTHING_TO_ADD,
    ("reduction/step_05_shuffle.cu", 27, "warp > 0"): IN_VAIN,
    ("reduction/step_06_vectorised.cu", 30, "warp > 0"): IN_VAIN,
    ("reduction/step_07_persistent.cu", 36, "warp > 0"): IN_VAIN,
    ("scan/step_05_look_back.cu", 110, "tile > 0"):
        "the first tile finds the sum 0 in front of it",
    ("sort/step_04_one_sweep.cu", 127, "sum > 0"): NOTHING_TO_ADD,
    ("sort/step_04_one_sweep.cu", 78, "number > 0"):
        "in the simulator nobody looks between the two stores of tile 0; a GPU faults",
    ("fft/step_19_one_trip.cu", 54, "at < TILES"):
        "in the simulator the tile is there by then, and gets the same values again",
    ("fft/step_19_one_trip.cu", 61, "at >= TILES"):
        "in the simulator the row is still there, and its results are stored again",
    ("scan/step_06_ahead.cu", 73, "warp > 0"): "other warps publish the same sum",
    ("softmax/step_07_cluster.cu", 72, "threadIdx.x < 32"): RELEASED,
    ("softmax/step_08_any_length.cu", 58, "wait()"): UNSHARED,
    ("softmax/step_08_any_length.cu", 59, "threadIdx.x < SHARE"): UNSHARED,
    ("softmax/step_08_any_length.cu", 63, "wait()"): UNSHARED,
    ("softmax/step_08_any_length.cu", 65, "lane < SHARE"): UNSHARED,
    ("layernorm/step_07_any_length.cu", 53, "wait()"): UNSHARED,
    ("layernorm/step_07_any_length.cu", 54, "threadIdx.x < SHARE"): UNSHARED,
    ("layernorm/step_07_any_length.cu", 57, "wait()"): UNSHARED,
    ("layernorm/step_07_any_length.cu", 58, "lane < SHARE"): UNSHARED,
    ("layernorm/step_07_any_length.cu", 59, "lane < SHARE"): UNSHARED,
    ("memory/pointer_chase.cu", 23, "__syncthreads()"): UNTIMED,
    ("solutions/04_cu_to_ptx_to_sass/f_bounds.cu", 12, "__syncthreads()"):
        "it keeps the compiler from reordering; no thread reads what another stores",
    ("memory/pointer_chase.cu", 24, "threadIdx.x >= 32"): "other warps walk in vain",
    ("layernorm/step_06_cluster.cu", 65, "t < 32"): RELEASED,
    ("fft/step_07_vectorised.cu", 52, "span > 1"):
        "values are multiplied by 1 where span is 1",
    ("fft/mixed.cuh", 94, "SPAN > 1"): BANKS,
    ("fft/mixed.cuh", 95, "SPAN > 1"): BANKS,
    ("fft/mixed.cuh", 101, "apart % UNIT > 0"):
        "the place is the same, and is computed when the kernel runs",
    ("fft/mixed.cuh", 125, "(q + 1) * T <= N / R || t + q * T < N / R"):
        "threads without values transform what nobody stores",
    ("fft/step_23_two_exchanges.cu", 37, "OWN < 16"): BANKS,
    ("fft/step_23_two_exchanges.cu", 85, "AHEAD > 0"): ASKED,
    ("fft/step_23_two_exchanges.cu", 85, "blockIdx.x + AHEAD * SHARE < gridDim.x"):
        ASKED,
    ("fft/step_24_three_exchanges.cu", 41, "WIDE < 16"): BANKS,
    ("fft/step_24_three_exchanges.cu", 53, "AHEAD > 0"): ASKED,
    ("fft/step_24_three_exchanges.cu", 53, "blockIdx.x + AHEAD * SHARE < gridDim.x"):
        ASKED,
    ("matmul/step_09_double_buffered.cu", 64, "k0 + DEPTH < K"): ZEROS,
    ("matmul/step_10_tma_ring.cu", 42, "turn > 0"): NO_PHASE,
    ("matmul/step_10_tma_ring.cu", 68, "(step + AHEAD) * DEPTH < K"): LATE,
    ("matmul/step_11_tuned.cu", 303, "__syncwarp()"):
        "the simulator elects the thread that was there before",
    ("matmul/step_12_tf32_split.cu", 126, "turn > 0"): NO_PHASE,
    ("row_pipeline.cuh", 142, "now.round > 0"): NO_PHASE,
    ("row_pipeline.cuh", 221, "t + k * RESULTS < count"):
        "what is read behind the slice is not stored",
    ("matmul/step_12_tf32_split.cu", 158, "step + AHEAD < steps"): LATE,
    ("matmul/step_12_tf32_split.cu", 160, "__syncwarp()"):
        "in the simulator the lanes of a warp are together again behind a branch",
    ("mnist_fast/forward_convolutions.cu", 44, "CUT_TILE < M_TILES"): CONSTANT,
    ("mnist_fast/forward_convolutions.cu", 45, "CUT < M_TILES"): CONSTANT,
    ("mnist_fast/forward_convolutions.cu", 71, "threadIdx.x / 8 < C1"):
        "threads to spare store the numbers of the last channel, too",
    ("mnist_fast/forward_convolutions.cu", 133, "i < share.first_row"): SAME_ROW,
    ("mnist_fast/forward_convolutions.cu", 133, "i >= share.last_row"): SAME_ROW,
    ("mnist_fast/forward_convolutions.cu", 255, "__syncthreads()"): BETWEEN,
    ("mnist_fast/backward_convolution.cu", 190, "down * W_MT * 16 >= C2"): UNSTORED,
    ("mnist_fast/statistics.cuh", 22, "!(fabs(half) < MOST / 2)"):
        "the update adds to no sum: test_fused_step.py adds up what does not fit",
    ("mnist_tuned/head.cu", 140, "wait_for_kernels_before()"): IN_ORDER,
    ("mnist_tuned/update.cu", 210, "wait_for_kernels_before()"): IN_ORDER,
    ("mnist_tuned/update.cu", 209, "block < SMALL_BLOCKS + W2_BLOCKS"):
        "blocks that need not wait do so, too",
    ("mnist_tuned/backward_hidden.cu", 246, "wait_for_kernels_before()"): IN_ORDER,
    ("mnist_tuned/backward_hidden.cu", 255, "chunk + 1 < last"): ZEROS,
    ("mnist_tuned/forward_convolutions_float32.cu", 254, "__syncthreads()"): BETWEEN,
    ("mnist_tuned/first_layer.cuh", 162, "q0 + g < last"):
        "lanes to spare store the numbers of the last pixel, too",
    ("mnist_tuned/first_layer.cuh", 163, "q < own_last"): SAME_ROW,
    ("mnist_tuned/float32_by_data.cuh", 155, "threadIdx.x / 32 * 2 >= SIDE1"):
        "the last warp has made the rows of the one before, and stores the same",
    ("mnist_tuned/float32_by_data.cuh", 247, "wait_for_kernels_before()"): IN_ORDER,
    ("mnist_tuned/float32_by_weights.cuh", 242, "wait_for_kernels_before()"): IN_ORDER,
    ("mnist_tuned/float32_by_weights.cuh", 245, "n < from.N"):
        "no plan has more blocks than pictures",
}  # fmt: skip
# Mutants that are found on a line which the source without them makes the cause.
FOUND_AT = {
    ("scan/step_05_look_back.cu", 84, "__syncthreads()"):
        (92, "the number of the tile is not there yet: its elements are nowhere"),
    ("sort/step_04_one_sweep.cu", 71, "__syncthreads()"):
        (74, "the number of the tile is not there yet"),
    ("sort/step_04_one_sweep.cu", 92, "__syncthreads()"):
        (93, "places are read, in `store`, before they are there"),
    ("scan/step_05_look_back.cu", 117, "__syncthreads()"):
        (114, "the compiler puts the reading of `before` next to where it is written"),
    ("solutions/04_cu_to_ptx_to_sass/c_horner.cu", 6, "i >= n"):
        (5, "the compiler loads x[i] ahead of the loop"),
    ("memory/read_footprint.cu", 33, "at < vectors"):
        (26, "the next loads are beyond the footprint"),
    ("cluster.cuh", 36, "__syncthreads()"): (49, EARLY),
    ("softmax/step_07_cluster.cu", 68, "wait()"): (73, TWICE),
    ("layernorm/step_06_cluster.cu", 62, "wait()"): (66, TWICE),
    ("convolution/step_02_halo_tile.cu", 75, "__syncthreads()"):
        (32, "the next pixels are stored, in `load_pixels`, while others read these"),
    ("convolution/step_05_tensor_cores.cu", 135, "__pipeline_wait_prior(STAGES - 2)"):
        (67, "a tile is loaded, in `load_16x16`, before its copies arrive"),
    ("convolution/step_05_tensor_cores.cu", 136, "__syncthreads()"):
        (67, "a tile is loaded, in `load_16x16`, before the copies of others arrive"),
    ("batched_matmul/step_03_streamed.cu", 84, "__syncthreads()"):
        (72, "a slice is replaced there while others still read it"),
    ("sparse/step_05_merge.cu", 121, "row < here"):
        (141, "a product is taken for the end of a row, and the row is carried there"),
    ("fft/step_07_vectorised.cu", 65, "__syncthreads()"):
        (76, "values of the exchange before are read while others store"),
    ("fft/step_07_vectorised.cu", 68, "span > 1"):
        (76, "places stay unset that are read there"),
    ("fft/step_10_two_passes.cu", 47, "__syncthreads()"):
        (50, "columns are stored there, while others read the last exchange"),
    ("fft/step_11_cluster.cu", 37, "wait()"): (61, UNTOLD),
    ("fft/step_11_cluster.cu", 58, "wait_for_values()"): (61, UNTOLD),
    ("fft/step_11_cluster.cu", 51, "wait()"): (57, TWICE),
    ("fft/step_17_one_exchange.cu", 61, "wait()"): (63, TWICE),
    ("fft/step_17_one_exchange.cu", 64, "wait()"): (67, UNTOLD),
    ("fft/step_21_mixed_cluster.cu", 64, "wait()"): (67, TWICE),
    ("fft/step_21_mixed_cluster.cu", 65, "t < EARLY"):
        (44, "idle threads store there, in `send`, where the values of others lie"),
    ("fft/step_21_mixed_cluster.cu", 68, "wait()"): (70, UNTOLD),
    ("fft/step_21_mixed_cluster.cu", 72, "__syncthreads()"):
        (70, "rows are read there, while others store for the next exchange"),
    ("fft/step_19_one_trip.cu", 31, "__syncthreads()"):
        (63, "rows are read there before other blocks have stored them"),
    ("fft/step_19_one_trip.cu", 37, "__syncthreads()"):
        (63, "rows are read there that were told too early"),
    ("fft/step_19_one_trip.cu", 56, "wait_for(read + step - RING)"):
        (57, "rows of y are replaced there that others may still read"),
    ("fft/step_22_long_bluestein.cu", 76, "wait()"): (80, UNTOLD),
    ("fft/step_22_long_bluestein.cu", 92, "wait()"): (75, TWICE),
    ("fft/step_23_two_exchanges.cu", 50, "wait()"):
        (54, "values are told to blocks that may not run yet"),
    ("fft/step_23_two_exchanges.cu", 63, "wait()"):
        (53, "other blocks store there, in `give`, while the block goes on"),
    ("fft/step_24_three_exchanges.cu", 75, "wait()"): (82, TWICE),
    ("fft/step_24_three_exchanges.cu", 91, "wait()"):
        (80, "other blocks store there, in `stage_b`, while the block goes on"),
    ("fft/step_12_other_factors.cu", 50, "__syncthreads()"):
        (56, "what the stage before stores is read there"),
    ("softmax/step_07_cluster.cu", 76, "wait()"): (77, EARLY),
    ("row_pipeline.cuh", 194, "wait(ring.full + slot, parity)"):
        (76, "quads are read, in `for_quads`, before they arrive"),
    ("row_pipeline.cuh", 216, "wait(ring.merged + now.slot, now.round % 2)"):
        (217, "numbers of the row are read before they are there"),
    ("row_pipeline.cuh", 257,
     'asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory")'):
        (127, "a slice is fetched into a slot that is still to be stored"),
    ("row_pipeline.cuh", 297, "warp <= SLOTS"):
        (195, "workers reduce, and a slot has several warps"),
    ("row_pipeline.cuh", 299, "warp <= SLOTS + WORKERS"):
        (143, "nobody stores, and the first warp waits for an empty slot"),
    ("layernorm/step_06_cluster.cu", 69, "wait()"): (70, EARLY),
    ("matmul/step_10_tma_ring.cu", 91, "__syncwarp()"):
        (47, "a tile is asked for again, in `fetch`, while lanes read it"),
    ("matmul/step_11_tuned.cu", 312, "wait(&full[0], 0)"):
        (145, "numbers of the first tile are read, in `load_b`, before they arrive"),
    ("matmul/step_11_tuned.cu", 334, "__syncthreads()"):
        (100, "a tile is asked for again, in `fetch`, while lanes read it"),
    ("matmul/step_11_tuned.cu", 339, "wait(&full[next], parity)"):
        (139, "numbers of the next tile are read, in `load_a`, before they arrive"),
    ("mnist_fast/forward_convolutions.cu", 278, "wait_for_copies()"): (247, COPIES),
    ("mnist_fast/forward_convolutions.cu", 279, "__syncthreads()"): (247, COPIES),
    ("mnist_fast/pictures.cuh", 56, 'asm volatile("cp.async.wait_all;" ::: "memory")'):
        (50, COPIES),
    ("mnist_fast/backward_convolution.cu", 279, "__syncthreads()"):
        (274, "bn2, which is folded before the loop, is read in it"),
    ("mnist_tuned/moments.cu", 25, "__syncthreads()"):
        (22, "zeros are stored before the loop, and the picture in it"),
    ("mnist_tuned/backward_hidden.cu", 254, "__syncthreads()"):
        (253, "rows are stored there, and read at once"),
    ("mnist_tuned/forward_convolutions_float32.cu", 267, "__syncthreads()"):
        (42, "p1 is stored, in `put`, while other warps multiply by it"),
    ("mnist_tuned/float32_by_data.cuh", 252, "__syncthreads()"):
        (245, "zeros are stored before the loop, and the picture in it"),
    ("mnist_tuned/float32_by_data.cuh", 255, "__syncthreads()"):
        (67, "dy is read, in `by_data`, while other warps make it"),
    ("mnist_tuned/float32_by_data.cuh", 267, "__syncthreads()"):
        (183, "the next picture's copies begin while the words of where1 are read"),
    ("mnist_tuned/float32_by_weights.cuh", 250, "__syncthreads()"):
        (239, "zeros are stored before the loop, and p1 is copied in it"),
    ("mnist_tuned/float32_by_weights.cuh", 253, "wait_for_copies()"):
        (108, "p1 is read, in `load`, before it arrives"),
    ("mnist_tuned/float32_by_weights.cuh", 255, "__syncthreads()"):
        (83, "the next c2 is copied while warps make the gradient of this one"),
}  # fmt: skip


@dataclass(frozen=True)
class Setting:
    """A launch of a kernel whose text may be exchanged."""

    compile: Callable
    kernel: str
    grid: object
    block: object
    arguments: tuple
    shared_bytes: int = 0
    cooperative: bool = False

    def check(self, checker: str, text: str):
        """Findings of a checker."""
        with ck.simulator(timeout_s=TIMEOUT_S):
            return getattr(ck, checker)(
                self.compile(text)[self.kernel], self.grid, self.block,
                copy.deepcopy(self.arguments), shared_bytes=self.shared_bytes,
                cooperative=self.cooperative,
            )  # fmt: skip

    def watch(self, text: str, checkers: tuple[str, ...]) -> checkers_together.Watched:
        """What several checkers find, up to the first error of the first of them."""
        with ck.simulator(timeout_s=TIMEOUT_S):
            kernel = self.compile(text)[self.kernel]
            return checkers_together.watch(
                checkers,
                (kernel, self.grid, self.block, copy.deepcopy(self.arguments),
                 self.shared_bytes, self.cooperative),
                until=checkers[0], results=True,
            )  # fmt: skip

    def result(self, text: str, order: str) -> list:
        """Arrays after a launch, or the name of the error that it raised."""
        arguments = copy.deepcopy(self.arguments)
        try:
            with ck.simulator(timeout_s=TIMEOUT_S, order=order):
                self.compile(text)[self.kernel].launch(
                    self.grid, self.block, *arguments,
                    shared_bytes=self.shared_bytes, cooperative=self.cooperative,
                )  # fmt: skip
        except ck.KernelError as error:
            return [type(error).__name__]
        return bytes_of(arguments)


def bytes_of(arguments) -> list:
    """The arrays among the arguments of a launch."""
    return [one.tobytes() for one in arguments if isinstance(one, np.ndarray)]


@dataclass(frozen=True)
class Subject:
    """A kernel of the course: its text, and how it is launched."""

    file: str
    text: str
    settings: Callable[[], list[Setting]]


def _of_plan(name: str) -> Subject:
    sizes = FEW.get(name, plans()[name].sizes)
    return Subject(name, kernels.text(name), lambda: _launched(name, sizes))


def _launched(name: str, sizes) -> list[Setting]:
    """What the tests launch of a file of kernels."""
    launches = [kernels.launch_of(name, one) for one in sizes]
    return [
        Setting(_editor(name, one), one.kernel, one.grid, one.block,
                one.arguments, one.shared_bytes, one.cooperative)
        for one in launches
    ]  # fmt: skip


def _editor(name: str, launch) -> Callable:
    """What compiles another text of a kernel; one for all launches of its sizes."""
    template = launch.kernel if "<" in launch.kernel else ""
    key = name, template, *(launch.defines or {}).items()
    if key not in EDITORS:
        module = ck.compile(
            kernels.KERNELS / name, defines=launch.defines, options=precompiled(name)
        )
        if template:  # its own module is compiled at once, and not the file before it
            module, _ = module.find(template)
        # The original and the mutant at hand.
        EDITORS[key] = functools.lru_cache(2)(module.edited)
    return EDITORS[key]


def precompiled(name: str) -> tuple[str, ...]:
    """Options that keep slow headers, so that mutants of a file share their parse."""
    if not SLOW.search(kernels.text(name)):
        return ()
    for file in HEADERS_KEPT.glob("*.pch"):  # a quarter of a GB each
        if not file.name.startswith(f"{Path(name).stem}_"):
            file.unlink()
    return "--pch", f"--pch-dir={HEADERS_KEPT}"


def _of_header(name: str, kernel: str) -> Subject:
    """A header, whose text stands in a kernel in place of what includes it."""
    include = f'#include "{name.rpartition("/")[2]}"\n'
    before, after = kernels.text(kernel).split(include)
    line = before.count("\n") + 2
    back = f'#line {line} "{kernels.KERNELS / kernel}"\n'

    def put(one: Setting) -> Setting:
        def compiled(text: str):
            text = text.replace("#pragma once", "")
            there = f'#line 1 "{kernels.KERNELS / name}"\n'
            return one.compile(before + there + text + back + after)

        return replace(one, compile=compiled)

    def launched() -> list[Setting]:
        own = _launched(kernel, FEW[name]) if name in FEW else settings(kernel)
        return [put(one) for one in own]

    return Subject(name, kernels.text(name), launched)


def _of_entry(entry) -> Subject:
    exercise = entry.exercise

    def settings():
        module = functools.lru_cache(2)(lambda text: compiled(entry, text))
        found = []
        for size in exercise.sizes:
            for launch in exercise.launches:
                trial = Trial.of(exercise, size, launch)
                arguments = tuple(Problem.of(exercise, size).given.values())
                found.append(
                    Setting(module, exercise.kernel, trial.grid, trial.block, arguments,
                            trial.shared_bytes)
                )  # fmt: skip
        return found

    name = entry.solution.relative_to(kernels.KERNELS).as_posix()
    return Subject(name, entry.solution.read_text(encoding="utf-8"), settings)


def _of_source(name: str, source: str, grid: int, block: int, arguments) -> Subject:
    def settings():
        module = functools.lru_cache(2)(ck.compile)
        kernel = re.search(r"void (\w+)\(", source[source.index("__global__") :])[1]
        return [Setting(module, kernel, grid, block, arguments)]

    return Subject(name, source, settings)


def _samples():
    """Kernels with what those of the course do not have yet."""
    for name in ("warp sums", "butterfly", "tiles of a warp", "barrier"):
        one = SYNCHRONISED[name]
        yield _of_source(name, one.source, one.grid, one.block, one.arguments)
    x = np.arange(4 * 64, dtype=np.float32)
    yield _of_source("copied tiles", TILES, 1, 64, (x, np.zeros(64, np.float32), 4))


EDITORS: dict[tuple, Callable] = {}
SUBJECTS = {
    subject.file: subject
    for subject in (
        *(
            _of_plan(name)
            for name in kernels.CORRECT
            if name in plans() and not name.startswith(ELSEWHERE)
        ),
        *(_of_header(*pair) for pair in HEADERS.items()),
        # That every exercise has its solution is tested elsewhere.
        *(
            _of_entry(e)
            for e in catalogue.entries(kernels.KERNELS)
            if e.solution.suffix == ".cu" and e.solution.exists()
        ),
        *_samples(),
    )
}
SAMPLES = [subject.file for subject in _samples()]


MUTANTS = [
    pytest.param(name, mutant, id=f"{name}:{mutant.line}-{mutant.removed}")
    for name, subject in SUBJECTS.items()
    for mutant in mutations.mutants(subject.text)
]


@functools.cache
def settings(name: str) -> list[Setting]:
    return SUBJECTS[name].settings()


@functools.cache
def result(name: str, number: int, order: str) -> list:
    """What the original computes."""
    return settings(name)[number].result(SUBJECTS[name].text, order)


def lines_of(finding, name: str) -> list[int]:
    """Lines of a file that a finding shows; those of the kernel if there are none."""
    file = re.escape(name.rpartition("/")[2])
    own = re.findall(rf"\b{file}:(\d+)", finding.message)
    return [int(line) for line in own or re.findall(r"\.cu:(\d+)", finding.message)]


def found_by(name: str, mutant) -> str:
    """What finds a mutant: a checker, with its error; "result"; or nothing, ""."""
    try:
        if is_the_same(name, mutant):
            return ""
    except ck.CompileError:
        return "compiler"
    if name not in DEAR:
        return by_launches(name, mutant)
    if mutant.kind == mutations.BOUNDS:
        return by_result(name, mutant)
    # The checker that finds most, of the smallest launch.
    findings = settings(name)[0].check("racecheck", mutant.text)
    return said_of(findings, name, mutant) or by_result(name, mutant)


def by_launches(name: str, mutant) -> str:
    """What finds a mutant; one launch serves several checkers, and has a result too."""
    for checkers in TOGETHER[mutant.kind]:
        watched = []
        for one in settings(name):
            watched.append(one.watch(mutant.text, checkers))
            for checker in checkers:
                first = checker == CHECKERS[mutant.kind][0]
                found = (
                    watched[-1].of(checker) if first else watched[-1].findings[checker]
                )
                if said := said_of(found, name, mutant):
                    return said
    if "initcheck" in checkers:  # the variables of threads, which take longest
        for one in watched:
            if said := said_of(one.of("initcheck"), name, mutant):
                return said
    for number, one in enumerate(watched):
        if bytes_of(one.arguments) != result(name, number, "forward"):
            return "result"
    return by_result(name, mutant, ORDERS[1:])


def said_of(findings, name: str, mutant) -> str:
    """The checker that finds a mutant, with its error; nothing, "", if it does not."""
    if not len(findings):
        return ""
    lines = lines_of(findings[0], name)
    elsewhere, _ = FOUND_AT.get(key(name, mutant), (None, ""))
    assert mutant.concerns(lines) or elsewhere in lines
    return f"{findings.checker} {findings[0].kind}"


def is_the_same(name: str, mutant) -> bool:
    """Whether the compiler makes the same of a mutant: of a constant condition."""
    pair = SUBJECTS[name].text, mutant.text
    for one in settings(name):
        # A template is compiled where it is asked for, in a module of its own.
        whole, without = (one.compile(t)[one.kernel].module.ptx for t in pair)
        if whole != without:
            return False
    return True


def by_result(name: str, mutant, orders=ORDERS) -> str:
    """Whether any launch of a mutant has another result."""
    for number, one in enumerate(settings(name)):
        for order in orders[:1] if number and name in DEAR else orders:
            if one.result(mutant.text, order) != result(name, number, order):
                return "result"
    return ""


def key(name: str, mutant) -> tuple[str, int, str]:
    return name, mutant.line, mutant.removed


@pytest.mark.parametrize(("name", "mutant"), MUTANTS)
def test_what_was_deleted_is_missed(name, mutant, capfd):
    found = found_by(name, mutant)
    assert (found == "") == (key(name, mutant) in HARMLESS)


def test_mutants_that_are_named_exist():
    known = {key(*one.values) for one in MUTANTS}
    assert sorted((HARMLESS.keys() | FOUND_AT.keys()) - known) == []


# Those of the course are in test_kernels_are_clean.py.
@pytest.mark.parametrize("checker", sorted({c for cs in CHECKERS.values() for c in cs}))
@pytest.mark.parametrize("name", SAMPLES)
def test_nothing_is_found_in_a_sample(name, checker):
    (one,) = settings(name)
    assert list(one.check(checker, SUBJECTS[name].text)) == []


# ---------------------------------------------------------------- how they are made

SOURCE = """__global__ void k(int *x, int n)  // if (i < n) __syncthreads();
{
    int i = threadIdx.x, left = i > 0 ? x[i - 1] : 0;
    if (i >= n || i < 0)
        return;
    for (int k = 0; k < 2; k++) {
        if (0 < i && i < n)
            x[i] = left;
        __syncthreads();
        __syncwarp(0xffff);
        __pipeline_wait_prior(1);
    }
    asm volatile("cp.async.wait_group %0;" ::"n"(0));
}
"""
EXPECTED = [
    (3, "i > 0", range(3, 15)), (4, "i < 0", range(4, 15)), (4, "i >= n", range(4, 15)),
    (7, "0 < i", range(7, 9)), (7, "i < n", range(7, 9)),
    (9, "__syncthreads()", range(6, 13)), (10, "__syncwarp(0xffff)", range(6, 13)),
    (11, "__pipeline_wait_prior(1)", range(6, 13)),
    (13, 'asm volatile("cp.async.wait_group %0;" ::"n"(0))', range(0)),
]  # fmt: skip


def test_every_site_is_found():
    found = [(m.line, m.removed, m.scope) for m in mutations.mutants(SOURCE)]
    assert found == EXPECTED


@pytest.mark.parametrize("number", range(len(EXPECTED)))
def test_a_mutant_differs_in_one_line(number):
    mutant = mutations.mutants(SOURCE)[number]
    pairs = zip(SOURCE.split("\n"), mutant.text.split("\n"), strict=True)
    changed = [at for at, (old, new) in enumerate(pairs, 1) if old != new]
    assert changed == [mutant.line]


@pytest.mark.parametrize("number", range(len(EXPECTED)))
def test_a_mutant_compiles(number):
    source = "#include <cuda_pipeline.h>\n" + mutations.mutants(SOURCE)[number].text
    assert ck.compile(source).kernels == ("k",)
