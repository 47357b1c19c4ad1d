"""ck.occupancy: the oracle, the toolkit's own rules, an H200's answers, the advice."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace

import occupancy_h200
import occupancy_header
import pytest

import coursekit as ck
from coursekit.analysis.occupancy import rules
from coursekit.analysis.occupancy.rules import Demand
from coursekit.hardware.architectures import SM_LIMITS
from coursekit.toolchain.cubin import Resources

SGEMM = {"registers": 122, "shared_bytes": 12_800}
GOLDEN = json.loads(occupancy_h200.GOLDEN.read_text())


@pytest.fixture
def sgemm():
    """The listing of an RTX 3070 that the course's page quotes."""
    return ck.occupancy(SGEMM, 128, device="RTX 3070", grid=1536)


# ---------------------------------------------------------------- the oracle


def test_limits_are_those_of_the_listing(sgemm):
    assert sgemm.limits == {"SM": 16, "registers": 4, "shared": 4, "warps": 12}


def test_theoretical_occupancy_is_that_of_the_listing(sgemm):
    assert (sgemm.active_warps, f"{sgemm.percent:.2f}") == (16, "33.33")


def test_waves_are_those_of_the_listing(sgemm):
    assert f"{sgemm.waves:.2f}" == "8.35"


def test_shared_memory_is_that_of_the_listing(sgemm):
    block = sgemm.shared_bytes_per_block - 1024
    assert (block, sgemm.shared_configuration_bytes) == (12_800, 65_536)


def test_only_registers_bind_since_a_larger_configuration_exists(sgemm):
    assert sgemm.bound_by == ("registers",)


# ---------------------------------------------------------------- the rules


def demands(sm, count: int = 500):
    """Draw demands over the whole range of a device."""
    draw = random.Random(sm.shared_bytes_per_sm + sm.max_blocks_per_sm)
    for _ in range(count):
        shared = draw.choice([0, 4096, sm.shared_bytes_per_block_optin])
        yield Demand(
            threads=draw.randint(1, 1024),
            registers=draw.randint(0, 255),
            shared_bytes=draw.randint(0, shared),
            barriers=draw.choice([0, 1, draw.randint(2, 16)]),
        )


@pytest.mark.skipif(bool(occupancy_header.missing()), reason=occupancy_header.missing())
def test_blocks_are_those_of_the_toolkits_header():
    cases = [(sm, demand) for sm in SM_LIMITS.values() for demand in demands(sm)]
    ours = [rules.blocks(sm, demand) for sm, demand in cases]
    theirs = occupancy_header.blocks(cases)
    assert [c for c, a, b in zip(cases, ours, theirs, strict=True) if a != b] == []


@pytest.mark.parametrize("name", GOLDEN["kernels"])
def test_blocks_are_those_that_an_h200_said(name):
    wrong = occupancy_h200.wrong(GOLDEN["kernels"][name], ck.device("H200"))
    assert wrong == []


@pytest.mark.parametrize(
    "row",
    GOLDEN["nsight_compute"],
    ids=lambda r: f"{r['kernel']}-{r['threads']}-{r['dynamic_bytes']}",
)
def test_limits_agree_with_those_that_nsight_compute_listed_on_an_h200(row):
    assert occupancy_h200.listed_wrong(row, ck.device("H200")) == {}


@pytest.mark.gpu
@pytest.mark.parametrize("file", occupancy_h200.files())
def test_blocks_are_those_of_this_gpu(gpu, file):
    from coursekit.runtime import backend as backends

    backend, wrong = backends.current(), []
    for kernel in occupancy_h200.kernels(file):
        needs = kernel.module.resources_on(kernel.name, backend.device.arch)
        row = {"resources": vars_of(needs)}
        row["blocks"] = occupancy_h200.asked(kernel, needs, backend)
        wrong += occupancy_h200.wrong(row, backend.device)
    assert wrong == []


def vars_of(resources: Resources) -> dict[str, int]:
    return {name: getattr(resources, name) for name in Resources.__slots__}


def test_turing_has_no_shared_memory_of_the_driver():
    assert ck.occupancy(32, 128, device="T4").shared_bytes_per_block == 0


def test_registers_are_handed_out_in_quarters_of_an_sm():
    # A warp of 200 takes 6400: ten of them fit 65536, but only two each quarter.
    assert ck.occupancy(200, 32, device="H200").limits["registers"] == 8


def test_launch_bounds_refuse_larger_blocks():
    bounded = {"registers": 32, "max_threads": 128}
    assert ck.occupancy(bounded, 256, device="H200").blocks == 0


def test_gpu_with_more_shared_memory_than_its_row_has_a_configuration_for_it():
    # A driver may report more than the row of the architecture has.
    sm = replace(SM_LIMITS[8, 6], shared_bytes_per_sm=164 * 1024)
    assert rules.configuration(sm, Demand(128, 32, 120_000)) == 164 * 1024


# ---------------------------------------------------------------- kernels


def test_kernel_is_compiled_for_the_device():
    kernel = ck.compile("first/matmul_naive.cu")["matmul_naive"]
    needs = kernel.module.resources_on("matmul_naive", "sm_86")
    found = ck.occupancy(kernel, (16, 16), device="RTX 3070")
    assert found.demand.registers == needs.registers


def test_dynamic_shared_memory_adds_to_the_declared():
    found = ck.occupancy(SGEMM, 128, 1000, device="RTX 3070")
    assert found.demand.shared_bytes == 13_800


def test_device_is_the_simulated_one(simulated):
    assert ck.occupancy(32, 128).device is simulated.device


@pytest.mark.parametrize(
    "given", ["vec_add", {}, {"shared_bytes": 1}, {"registers": -1}, True, None]
)
def test_what_tells_no_registers_is_refused(given):
    with pytest.raises(ck.ArgumentError, match=r"ck\.occupancy got"):
        ck.occupancy(given, 128)


def test_impossible_block_is_refused():
    with pytest.raises(ck.LaunchError, match="1025 threads"):
        ck.occupancy(32, 1025)


# ---------------------------------------------------------------- advice


def test_advice_names_the_registers_that_gain_a_block(sgemm):
    assert sgemm.advice[0] == (
        "5 blocks fit with at most 96 registers per thread (now 122): 20 of 48 warps, "
        "41.67 %."
    )


def test_advice_names_every_limit_in_the_way():
    both = {"registers": 128, "shared_bytes": 22_000}
    advice = ck.occupancy(both, 128, device="RTX 3070").advice[0]
    assert re.findall(r"at most ([\d,]+)", advice) == ["96", "19,456"]


@pytest.mark.parametrize("capability", SM_LIMITS, ids=str)
def test_registers_and_shared_bytes_of_the_advice_are_the_largest(capability):
    sm, wrong = SM_LIMITS[capability], []
    for demand in demands(sm, 200):
        wanted = rules.blocks(sm, demand) + 1
        shared = rules.most_shared(sm, wanted)
        registers = rules.most_registers(sm, demand, wanted)
        if not shared or not registers or registers == demand.registers:
            continue
        fits = replace(demand, registers=registers, shared_bytes=shared)
        more = (
            replace(fits, registers=registers + 1),
            replace(fits, shared_bytes=shared + 1),
        )
        told = [rules.limits(sm, each) for each in (fits, *more)]
        holds = min(told[0]["registers"], told[0]["shared"]) >= wanted
        too_many = told[1]["registers"] < wanted
        too_much = told[2]["shared"] < wanted
        if not (holds and too_many and too_much):
            wrong.append(demand)
    assert wrong == []


def test_full_sm_has_nothing_to_gain():
    assert ck.occupancy(32, 256, device="H200").advice == (
        "All 64 warps are taken: more cannot be had.",
    )


def test_small_blocks_are_told_the_size_that_fills_the_sm():
    advice = ck.occupancy(32, 32, device="H200").advice
    assert advice[1] == "A block of 64 threads would hold 64 of 64 warps."


# ---------------------------------------------------------------- how it reads


def test_text_tells_the_reason_of_each_limit(sgemm):
    row = "4  registers      122 per thread, 16,384 per block, 65,536 per SM"
    assert row in repr(sgemm)


def test_summary_has_blocks_warps_and_waves(sgemm):
    assert sgemm.summary == (
        "4 blocks per SM, limited by registers: 16 of 48 warps, 33.33 %. A grid of "
        "1,536 on 46 SMs takes 8.35 waves."
    )


def test_html_says_what_the_text_says(sgemm):
    html = sgemm._repr_html_()
    assert all(text in html for text in (sgemm.summary, *sgemm.advice))


def test_impossible_launch_says_so():
    assert "this launch is refused" in repr(ck.occupancy(255, 1024, device="H200"))
