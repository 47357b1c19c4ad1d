"""Random PTX programs do the same on every engine of the simulator, and on a GPU."""

from __future__ import annotations

import functools
import json
import subprocess
from collections import Counter
from pathlib import Path

import ptx_corpus
import ptx_fuzz
import pytest
from cuda_compiler import nvcc
from ptx_generator import generator, program
from ptx_writer import APPROXIMATE, COMMON, RARE

from coursekit.simt.compiled import engine
from coursekit.simt.interpreter.warp import Warp

PROGRAMS, CHUNK = 500, 10
# Of PROGRAMS programs so many at least have a feature.
FLOORS = {
    "region": 90, "short_circuit": 90, "loop": 210, "lane_loop": 90,
    "uniform_loop": 40, "break_loop": 40, "break": 20, "while_loop": 100, "brx": 70,
    "early_exit": 60, "pointer_loop": 70, "long_loop": 30, "block_if": 30,
    "warp_if": 30, "lane_if": 150, "guarded": 170, "guarded_load": 40, "call": 9,
    "affine": 180, "linear_address": 260, "masked_wide": 130, "wrapped_below": 140,
    "wrapped_above": 130, "high_bits": 130, "narrow": 130, "remainder": 130,
    "vector": 150, "load_1": 50, "load_2": 70, "load_8": 50, "ld.const": 60,
    "ld.param": 40, "ld.local": 19, "st.local": 16, "generic_local": 30,
    "generic_shared": 20, "generic_mixed": 20, "uniform_load": 30, "exchange": 60,
    "reduction": 20, "barrier": 80, "bar.red": 5, "bar.warp": 19, "named_barrier": 3,
    "atom.shared": 30, "red.global": 70, "atom_used": 70, "cas_loop": 15,
    "lane_order": 8, "shfl": 50, "shfl_partial": 40, "shfl_pred": 20, "shfl_tree": 8,
    "vote": 30, "match": 7, "redux": 16, "elect": 4, "masked": 230, "masked_branch": 20,
    "activemask": 20,
    "approximate": 40, "fault": 10, "divide": 90, "carry": 80, "rare": 220,
    "warps_1": 80, "warps_2": 110, "warps_3": 15, "warps_4": 60, "warps_8": 20,
}  # fmt: skip


def chunks(programs, size=CHUNK):
    """Consecutive seeds, named by the first and the last."""
    return [
        pytest.param(range(first, first + size), id=f"{first}-{first + size - 1}")
        for first in range(0, programs, size)
    ]


@functools.cache
def features():
    return Counter(name for s in range(PROGRAMS) for name in set(program(s).features))


def quick_compiling(monkeypatch):
    """Leave out LLVM's optimizations, as for long kernels; `make fuzz` has them."""
    monkeypatch.setattr(engine, "MOST_OPTIMIZED", 0)


@pytest.mark.parametrize("seeds", chunks(PROGRAMS))
def test_engines_agree_on_random_programs(seeds, monkeypatch):
    """The last seed of each chunk is compiled as users have it compiled."""
    *most, last = seeds
    found = [ptx_fuzz.check(last)]
    quick_compiling(monkeypatch)
    found += map(ptx_fuzz.check, most)
    assert [each for each in found if each] == []


@pytest.mark.parametrize("seeds", chunks(100))
def test_results_of_random_programs_do_not_depend_on_the_order_of_warps(seeds):
    found = {seed: ptx_fuzz.compare_orders(program(seed)) for seed in seeds}
    assert {seed: text for seed, text in found.items() if text} == {}


@pytest.mark.parametrize("seeds", chunks(100))
def test_random_programs_define_registers_before_they_read_them(seeds, monkeypatch):
    usual = {seed: ptx_fuzz.run(program(seed)) for seed in seeds}
    start = Warp.start

    def other_registers(warp):
        start(warp)
        warp.kernel_frame.values.fill(1)

    monkeypatch.setattr(Warp, "start", other_registers)
    found = {
        seed: usual[seed].difference(ptx_fuzz.run(program(seed))) for seed in seeds
    }
    assert {seed: text for seed, text in found.items() if text} == {}


def test_the_program_of_a_seed_never_changes():
    assert program(7) == program(7)


@pytest.mark.parametrize("feature", FLOORS)
def test_enough_random_programs_have_every_feature(feature):
    assert features()[feature] >= FLOORS[feature]


def test_random_programs_are_small():
    sizes = [
        ptx_fuzz.run(program(seed)).counts.get("warp_instructions", 0)
        for seed in range(0, PROGRAMS, 10)
    ]
    assert 300 < sum(sizes) / len(sizes) < 3000


# ---------------------------------------------------------------- making them smaller


def test_a_failing_program_becomes_smaller():
    seed = next(s for s in range(PROGRAMS) if program(s).features["brx"])
    small = ptx_fuzz.reduce(seed, lambda case: "brx.idx" in case.text)
    assert "brx.idx" in small.text
    assert len(small.text) < 0.7 * len(program(seed).text)


@pytest.mark.parametrize("seeds", chunks(20))
def test_programs_without_some_statements_run(seeds):
    for seed in seeds:
        writer = generator(seed)
        without = frozenset(range(1, writer.statements, 3))
        assert ptx_fuzz.compare_orders(writer.case(without)) == ""


# ---------------------------------------------------------------- on a GPU


@pytest.fixture(scope="module")
def assembled(tmp_path_factory):
    """Assemble PTX for an H200; return what ptxas says."""
    compiler = nvcc()
    if compiler is None:
        pytest.skip("no ptxas: pip install nvidia-cuda-nvcc")
    ptxas = Path(compiler).with_name("ptxas")
    folder = tmp_path_factory.mktemp("ptx")

    def assemble(text):
        source = folder / "program.ptx"
        source.write_text(text)
        command = [ptxas, "-arch=sm_90", "-o", folder / "program.cubin", source]
        answer = subprocess.run(command, capture_output=True, text=True)
        return answer.stdout + answer.stderr

    return assemble


@pytest.mark.parametrize("seed", range(0, PROGRAMS, 25))
def test_ptxas_takes_random_programs(seed, assembled):
    assert assembled(program(seed).text) == ""


def test_ptxas_takes_programs_without_some_statements(assembled):
    writer = generator(11)
    without = frozenset(range(1, writer.statements, 3))
    assert assembled(writer.case(without).text) == ""


@pytest.mark.parametrize("table", [COMMON, RARE, APPROXIMATE],
                         ids=["common", "rare", "approximate"])  # fmt: skip
def test_ptxas_takes_every_form(table, assembled):
    writer = generator(0)
    writer.random.seed(5)
    for form in table:
        for _ in range(3):
            sources = [
                writer.value(letter, immediate=k > 0 and form.immediates)
                for k, letter in enumerate(form.sources)
            ]
            writer.apply(form, sources)
    assert assembled(writer.case().text) == ""


def recorded():
    """Golden results by seed; none where the file is not there."""
    if not ptx_corpus.GOLDEN.exists():
        return {}
    return json.loads(ptx_corpus.GOLDEN.read_text())["programs"]


@pytest.mark.parametrize("part", range(20))
def test_random_programs_leave_what_they_left_on_a_gpu(part):
    golden = recorded()
    if not golden:
        pytest.skip("no recorded results: run tests/support/ptx_corpus.py on a GPU")
    found = {
        seed: ptx_corpus.compared(int(seed), *golden[seed])
        for seed in list(golden)[part::20]
    }
    assert {seed: text for seed, text in found.items() if text} == {}
