"""A launch that never ends is told apart from one that takes long."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import coursekit as ck

PATIENCE_S = 60  # of tests that end at once, or fail
pytestmark = pytest.mark.usefixtures("simulated")
SOURCE = """
__device__ bool over(unsigned barrier, unsigned parity)
{{
    unsigned found;
    asm volatile("{{\\n.reg .pred p;\\n"
                 "mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;\\n"
                 "selp.u32 %0, 1, 0, p;\\n}}"
                 : "=r"(found) : "r"(barrier), "r"(parity) : "memory");
    return found;
}}
__device__ unsigned begun(unsigned long long *barrier, int arrivals, int bytes)
{{
    unsigned at = (unsigned)__cvta_generic_to_shared(barrier);
    if (threadIdx.x == 0) {{
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
                     ::"r"(at), "r"(arrivals));
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                     ::"r"(at), "r"(bytes));
    }}
    __syncthreads();
    return at;
}}
__device__ bool late(unsigned long long then)
{{
    unsigned found;
    asm volatile("{{\\n.reg .pred p;\\n.reg .u64 now;\\n"
                 "mov.u64 now, %%clock64;\\nsetp.ge.u64 p, now, %1;\\n"
                 "mov.u64 now, 0;\\nselp.u32 %0, 1, 0, p;\\n}}"
                 : "=r"(found) : "l"(then));
    return found;
}}
__device__ void add(int *to, int more)
{{
    asm volatile("red.global.add.u32 [%0], %1;" ::"l"(to), "r"(more) : "memory");
}}
__global__ void k(int *x, int *y)
{{
    volatile int *seen = x;
    __shared__ unsigned long long full;
    {body}
}}"""
LINE = SOURCE.count("\n", 0, SOURCE.index("{body}")) + 1


def run(body: str, grid: int = 2, block: int = 64, **options):
    """Launch a kernel that sees four zeros in x and in y."""
    x, y = np.zeros(4, np.int32), np.zeros(4, np.int32)
    with ck.simulator(**{"timeout_s": PATIENCE_S} | options):
        ck.compile(SOURCE.format(body=body), arch="sm_90").k[grid, block](x, y)
    return x, y


NEVER = {
    "a flag that nobody sets": "while (seen[0] == 0) { }",
    "a flag that is read once": "while (x[0] == 0) { y[0] = 1; }",
    "no condition": "for (;;) x[0] = 1;",
    "a lock that nobody frees": "while (atomicCAS(x, 0, 1) != 0) { }",
    "one lane of a warp": "if (threadIdx.x == 5) while (seen[0] == 0) { }",
    "one block of many": "if (blockIdx.x == 1) while (seen[0] == 0) { }",
    "others at a barrier": "if (threadIdx.x < 32) while (!*seen) { } __syncthreads();",
    "a loop of several parts": "for (int i = 1;; i = i * 5 & 15) x[i & 3] = i;",
    "a barrier": "unsigned at = begun(&full, 2, 0); while (!over(at, 0)) { }",
}


@pytest.mark.parametrize("order", ["forward", "reverse"])
@pytest.mark.parametrize("why", NEVER)
def test_what_never_ends_is_named_at_once(why, order):
    with pytest.raises(ck.DeadlockError, match="runs for ever") as caught:
        run(NEVER[why], order=order)
    assert (caught.value.line, len(caught.value.thread)) == (LINE, 3)


READ_ONCE = "that the compiler reads once, before the loop"


def test_a_flag_that_is_read_once_is_said_to_be():
    with pytest.raises(ck.DeadlockError, match=READ_ONCE):
        run("if (blockIdx.x) x[0] = 1; else while (x[0] == 0) { }")


def test_a_flag_that_is_read_in_each_round_is_not_said_to_be_read_once():
    with pytest.raises(ck.DeadlockError) as caught:
        run(NEVER["a flag that nobody sets"])
    assert READ_ONCE not in str(caught.value)


def test_blocks_that_have_not_begun_get_their_turn_first():
    body = "if (blockIdx.x < 20) while (seen[0] == 0) { } else x[0] = 1;"
    assert run(body, grid=21)[0][0] == 1


def test_blocks_that_have_not_begun_may_all_wait():
    with pytest.raises(ck.DeadlockError, match="runs for ever"):
        run("while (seen[0] == 0) { }", grid=12)


LONG = {
    "a clock": "while (clock64() < 100000) { }",
    "a clock that no register keeps": "while (!late(100000)) { }",
    "rounds that are counted": "for (int i = 0; i < 9000 && *seen == 0; i++) { }",
    "a counter in memory": "while (atomicAdd(y, 1) < 9000) { }",
    "another warp that takes long": """
        if (threadIdx.x < 32) { while (seen[0] == 0) { } }
        if (threadIdx.x == 32) {
            for (int i = 0; i < 9000; i++) atomicAdd(y, i);
            atomicExch(x, 1);
        }""",
    "a byte that others count up to": """
        if (threadIdx.x == 0) while (((volatile int *)y)[0] == 0) add(x, 1 << 10);
        if (threadIdx.x == 32) {
            while (((volatile unsigned char *)x)[3] == 0) { }
            atomicExch(y, 1);
        }""",
    "a flag that another warp sets, read without volatile": """
        if (threadIdx.x < 32) { while (x[0] == 0) y[0] = 1; }
        else atomicExch(x, 1);""",
}


@pytest.mark.parametrize("why", LONG)
def test_what_only_takes_long_ends(why):
    assert run(LONG[why] + " x[3] = 7;", grid=1)[0][3] == 7


def test_a_loop_that_counts_in_a_register_keeps_its_turn():
    loop = 'for (int i = 0; i < 1 << 17; i++) asm volatile("");'
    body = f"if (blockIdx.x == 0) {{ {loop} }} y[0] = 10 * y[0] + blockIdx.x + 1;"
    assert run(body, grid=2, block=1)[1][0] == 12


def test_a_barrier_tells_what_it_lacks():
    body = "unsigned at = begun(&full, 3, 48); while (!over(at, 0)) { }"
    lacks = "byte 0 of full, whose phase lacks 2 of 3 arrivals and 48 bytes"
    with pytest.raises(ck.DeadlockError, match=lacks):
        run(body)


def test_the_grid_s_barrier_has_advice_of_its_own():
    source = """
    #include <cooperative_groups.h>
    __global__ void k(int *x) {
        if (blockIdx.x) cooperative_groups::this_grid().sync();
    }"""
    kernel = ck.compile(source)["k"]
    with (
        ck.simulator(timeout_s=PATIENCE_S),
        pytest.raises(ck.DeadlockError, match=r"runs for ever(.|\n)*grid\.sync"),
    ):
        kernel.launch(2, 32, np.zeros(1, np.int32), cooperative=True)


def test_orders_that_are_drawn_prove_nothing():
    with pytest.raises(ck.DeadlockError, match="still running after 0.3 s"):
        run(NEVER["a flag that nobody sets"], order=3, timeout_s=0.3)


def test_what_changes_in_every_round_is_stopped_by_the_clock():
    with pytest.raises(ck.DeadlockError, match="still running after 0.3 s"):
        run("while (seen[0] >= 0) x[0] = (x[0] + 1) & 0xfffff;", timeout_s=0.3)


def test_other_arrays_and_first_imports_do_not_hide_an_endless_loop(tmp_path):
    code = (
        "import sys, numpy as np, coursekit as ck\n"
        "with ck.simulator(timeout_s=60):\n"
        "    other = ck.to_device(np.ones(75_000_000, np.float32))\n"
        "    source = '__global__ void k(int* x) {"
        " for (int i = 1;; i = i * 5 & 15) x[i & 3] = i; }'\n"
        "    try:\n"
        "        ck.compile(source)['k'][2, 64](np.zeros(4, np.int32))\n"
        "    except ck.DeadlockError as error:\n"
        "        print('runs for ever' in str(error))\n"
    )
    environment = os.environ | {"COURSEKIT_CACHE": str(tmp_path)}
    command = [sys.executable, "-c", code]
    said = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert said.stdout == "True\n"
