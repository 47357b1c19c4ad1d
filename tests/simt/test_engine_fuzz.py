"""Random programs give the same bits on the simulator and as host C++.

Every program runs once: its seed picks the PTX dialect (or the unoptimised PTX of -G),
the shape of the blocks and the order of the warps.
"""

import ctypes
import functools
import shutil
import subprocess

import numpy as np
import pytest
from program_generator import source

import coursekit as ck

PROGRAMS = 60
BATCH = 10  # programs in one file: one compilation each for host and device
BLOCKS = 2
SHAPES = [1, 31, 33, 64, (5, 7), (16, 3, 2)]
DIALECTS = [
    ("compute_90", ()), ("compute_90", ("-G",)), ("compute_75", ()),
    ("compute_80", ("-G",)), ("compute_100", ()), ("compute_120", ()),
]  # fmt: skip
# -frounding-math: gcc takes 0 - (float)i for -(float)i, which is wrong where i is 0.
HOST_OPTIONS = ["-O1", "-fwrapv", "-ffp-contract=off", "-frounding-math",
                "-fno-strict-aliasing", "-w", "-shared", "-fPIC"]  # fmt: skip


def batch_of(seed):
    first = seed // BATCH * BATCH
    return range(first, first + BATCH)


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    """The host function of a seed; skips where there is no compiler."""
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("no g++ here to compile the reference programs with")

    @functools.cache
    def library(seeds):
        folder = tmp_path_factory.mktemp("host")
        (folder / "p.cpp").write_text(source(seeds))
        command = [compiler, *HOST_OPTIONS, "-o", folder / "p.so", folder / "p.cpp"]
        subprocess.run(command, check=True)
        return ctypes.CDLL(str(folder / "p.so"))

    return lambda seed: getattr(library(batch_of(seed)), f"host{seed}")


@pytest.fixture(scope="module")
def device():
    """The kernel of a seed in a dialect."""

    @functools.cache
    def module(seeds, arch, options):
        options = ("--fmad=false", *options)
        return ck.compile(source(seeds), arch=arch, options=options)

    return lambda seed, dialect: module(batch_of(seed), *dialect)[f"k{seed}"]


def inputs():
    """Values of every size, small ones among them."""
    values = np.random.default_rng(3).integers(-(2**31), 2**31, 64).astype(np.int32)
    values[::5] %= 9
    values[1::7] = -3
    return values


def arrays(block):
    """Inputs, an output for every thread, and sums that all threads share."""
    threads = BLOCKS * int(np.prod(block))
    return inputs(), np.zeros(threads, np.uint64), np.zeros(8, np.int32)


def expected(function, block):
    given = arrays(block)
    threads = int(np.prod(block))
    function(*(ctypes.c_void_p(a.ctypes.data) for a in given), BLOCKS, threads)
    return np.concatenate(given[1:])


def simulated(kernel, block, order):
    given = arrays(block)
    with ck.simulator(order=order):
        kernel[BLOCKS, block](*given)
    return np.concatenate(given[1:])


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_a_random_program_gives_the_bits_of_the_host(seed, host, device):
    dialect = DIALECTS[seed // BATCH % len(DIALECTS)]
    block = SHAPES[seed % len(SHAPES)]
    order = ["forward", "reverse", seed][seed % 7 % 3]
    found = simulated(device(seed, dialect), block, order)
    np.testing.assert_array_equal(found, expected(host(seed), block))


COUNTED = range(0, PROGRAMS, 12)


@pytest.fixture(scope="module")
def counted(device):
    """Counters of the program of a seed."""

    @functools.cache
    def counters(seed, order="forward"):
        kernel = device(seed, DIALECTS[0])
        with ck.simulator(order=order):
            return ck.count(kernel, BLOCKS, 70, arrays(70))

    return counters


@pytest.mark.parametrize("order", ["reverse", 7])
@pytest.mark.parametrize("seed", COUNTED)
def test_counts_of_a_random_program_do_not_depend_on_the_order(seed, order, counted):
    assert counted(seed, order).as_dict() == counted(seed).as_dict()


@pytest.mark.parametrize("seed", COUNTED)
def test_warps_of_a_random_program_count_at_most_32_threads(seed, counted):
    counts = counted(seed)
    assert counts.thread_instructions <= 32 * counts.warp_instructions


SUMMED = ["warp_instructions", "thread_instructions", "branches",
          "global_load_sectors", "shared_load_wavefronts"]  # fmt: skip


@pytest.mark.parametrize("name", SUMMED)
@pytest.mark.parametrize("seed", COUNTED)
def test_lines_of_a_random_program_add_up_to_the_whole(seed, name, counted):
    lines = counted(seed).by_line().values()
    assert sum(getattr(one, name) for one in lines) == getattr(counted(seed), name)
