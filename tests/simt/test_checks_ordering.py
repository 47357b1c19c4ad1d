"""racecheck: a relaxed read orders nothing that follows, unless a fence stands between.

Each case is a handshake: somebody writes `data` and raises a flag, and somebody else
sees the flag and reads `data`, on the line that says so.
"""

from __future__ import annotations

import copy
from typing import NamedTuple

import numpy as np
import pytest

import coursekit as ck

pytestmark = pytest.mark.usefixtures("simulated")

LIBRARY = "#include <cuda/atomic>\nusing namespace cuda;"
# The same from what the compiler has built in, which takes a fortieth of the time.
BUILT_IN = """template<int order> struct Order {};
constexpr Order<__NV_ATOMIC_RELAXED> memory_order_relaxed;
constexpr Order<__NV_ATOMIC_ACQUIRE> memory_order_acquire;
constexpr Order<__NV_ATOMIC_RELEASE> memory_order_release;
constexpr Order<__NV_ATOMIC_ACQ_REL> memory_order_acq_rel;
constexpr int thread_scope_device = __NV_THREAD_SCOPE_DEVICE;
constexpr int thread_scope_block = __NV_THREAD_SCOPE_BLOCK;
template<class T, int scope> struct atomic_ref {
  T *at;
  __device__ explicit atomic_ref(T &value) : at(&value) {}
  template<int order> __device__ T load(Order<order>) {
    return __nv_atomic_load_n(at, order, scope);
  }
  template<int order> __device__ void store(T value, Order<order>) {
    __nv_atomic_store_n(at, value, order, scope);
  }
  template<int order> __device__ T fetch_add(T value, Order<order>) {
    return __nv_atomic_fetch_add(at, value, order, scope);
  }
};
"""
HEAD = f"""{BUILT_IN}
using Flag = atomic_ref<int, thread_scope_device>;
__global__ void k(int *flag, int *data, int *out) {{
  Flag raised(flag[0]), relayed(flag[1]), other(flag[2]);
  volatile int *seen = flag;
  int t = threadIdx.x, b = blockIdx.x, i = 128 * b + t;
"""
FENCE, NARROW = "__threadfence();", "__threadfence_block();"
PROXY = 'asm volatile("fence.proxy.async;" ::: "memory");'
ACQUIRES, RELEASES = (
    f"__nv_atomic_thread_fence(__NV_ATOMIC_{order}, __NV_THREAD_SCOPE_DEVICE);"
    for order in ("ACQUIRE", "RELEASE")
)
BARRIER = "__syncthreads();"
RELAXED = "while (raised.load(memory_order_relaxed) == 0) {}"
VOLATILE = "while (*seen == 0) {}"
ATOMIC = "while (atomicAdd(flag, 0) == 0) {}"
ACQUIRE = "while (raised.load(memory_order_acquire) == 0) {}"
READ = "\nout[i] = data[0];  // reads\n"
SENT = f"data[0] = 5; {FENCE} raised.store(1, memory_order_relaxed);"
RELEASED = "data[0] = 5; raised.store(1, memory_order_release);"
# Of the whole block; thread 0 alone waits for the flag.
FIRST = "if (t == 0) {{ {} }} {}"


class Case(NamedTuple):
    """A kernel `k(flag, data, out)`, and how it is launched."""

    source: str
    grid: int = 2
    block: int = 128

    @property
    def line(self) -> int:
        """Where `data` is read."""
        lines = self.source.splitlines()
        return 1 + next(k for k, text in enumerate(lines) if "// reads" in text)


def blocks(receive: str, send: str = SENT) -> Case:
    """Block 0 sends, thread 0 of it; all of block 1 receives."""
    body = f"if (b == 0) {{ if (t == 0) {{ {send} }} }} else {{ {receive} }}"
    return Case(f"{HEAD}{body}\n}}")


def single(receive: str, send: str = SENT) -> Case:
    """Thread 0 of block 0 sends, and thread 0 of block 1 receives."""
    return blocks(f"if (t == 0) {{ {receive} }}", send)


def warps(receive: str, send: str, then: str = "") -> Case:
    """Thread 0 sends, all other warps of the block receive."""
    body = f"if (t < 32) {{ if (t == 0) {{ {send} }} }} else {{ {receive} }} {then}"
    return Case(f"{HEAD}{body}\n}}", grid=1)


def of_library(case: Case) -> Case:
    """The same with the atomics of libcu++."""
    return case._replace(source=case.source.replace(BUILT_IN, LIBRARY))


def relay(turn: str) -> Case:
    """Block 0 sends, block 1 passes it on, block 2 receives, by acquire."""
    return relayed(f"if (t == 0) {{ {turn} }}")


def relayed(turn: str) -> Case:
    """As `relay`, but all threads of block 1 run `turn`."""
    body = (
        f"if (b == 1) {{ {turn} }} else if (t == 0) {{ if (b == 0) {{ {SENT} }} "
        f"else {{ while (relayed.load(memory_order_acquire) == 0) {{}} {READ} }} }}"
    )
    return Case(f"{HEAD}{body}\n}}", grid=3)


def together(send: str) -> Case:
    """All of block 0 sends, and thread 0 of block 1 receives, by acquire."""
    body = f"if (b == 0) {{ {send} }} else if (t == 0) {{ {ACQUIRE} {READ} }}"
    return Case(f"{HEAD}{body}\n}}")


def beside(receive: str, send: str = SENT) -> Case:
    """As `single`, and block 0 has a second thread that raises a flag of its own."""
    body = (
        f"if (b == 0) {{ if (t == 0) {{ {send} }} "
        f"if (t == 32) other.store(1, memory_order_release); }} "
        f"else if (t == 0) {{ {receive} }}"
    )
    return Case(f"{HEAD}{body}\n}}")


LOCKED = """__global__ void k(int *flag, int *data, int *out) {{
  if (threadIdx.x != 0) return;
  while (atomicCAS(flag, 0, 1) != 0) {{}}
  {}
  data[0] += 1;  // reads
  {}
  atomicExch(flag, 0);
}}"""
LAST = """__global__ void k(int *flag, int *data, int *out) {{
  if (threadIdx.x != 0) return;
  out[blockIdx.x] = 1;
  {}
  if (atomicAdd(flag, 1) < gridDim.x - 1) return;
  {}
  for (int b = 0; b < gridDim.x; b++)
    data[0] += out[b];  // reads
}}"""
COUNTED = """__global__ void k(int *flag, int *data, int *out) {{
  __shared__ unsigned long long barrier;
  unsigned at = __cvta_generic_to_shared(&barrier);
  if (threadIdx.x == 0)
    asm volatile("mbarrier.init.shared.b64 [%0], 2;" :: "r"(at) : "memory");
  __syncthreads();
  if (threadIdx.x == 0) data[0] = 5;
  if (threadIdx.x % 32 == 0)
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" :: "r"(at) : "memory");
  if (threadIdx.x == 32) {{
    {}
    out[0] = data[0];  // reads
  }}
}}"""
WAIT = """asm volatile("{.reg .pred done; again: "
    "mbarrier.try_wait.parity.shared.b64 done, [%0], 0; "
    "@!done bra again;}" :: "r"(at) : "memory");"""
NARROW_SENT = f"data[0] = 5; {NARROW} *seen = 1;"
WARP_POLLS = "if (t == 32) while (*seen == 0) {}"
NAMED = 'asm volatile("bar.sync 1, 96;" ::: "memory");'
PASS_ON = "relayed.store(1, memory_order_relaxed);"
# Thread 32 writes or learns, and thread 0 raises the flag.
WRITE, RAISE = "if (t == 32) data[0] = 5;", "if (t == 0) *seen = 1;"
WRITE_BESIDE = "if (t == 1) data[0] = 5;"
LEARN, TELL = f"if (t == 32) {ACQUIRE}", f"if (t == 0) {PASS_ON}"
FIRST_FENCE, LAST_FENCE = f"if (t == 0) {FENCE}", f"if (t == 32) {FENCE}"

ORDERED = {
    "fence behind a relaxed load": single(RELAXED + FENCE + READ),
    "fence behind a volatile load": single(VOLATILE + FENCE + READ),
    "fence behind an atomic": single(ATOMIC + FENCE + READ),
    "fence behind a relaxed load of what is released":
        single(RELAXED + FENCE + READ, RELEASED),
    "fence that only acquires": single(RELAXED + ACQUIRES + READ),
    "flag behind a fence that only releases":
        single(ACQUIRE + READ, SENT.replace(FENCE, RELEASES)),
    "acquire load": single(ACQUIRE + READ),
    "acquire load of what is released": single(ACQUIRE + READ, RELEASED),
    "acquire load behind a relaxed one of the same flag":
        single(RELAXED + "raised.load(memory_order_acquire);" + READ),
    "atomic that acquires and releases": single(
        "while (raised.fetch_add(0, memory_order_acq_rel) == 0) {}" + READ),
    "fence of C++": of_library(single(
        RELAXED + "atomic_thread_fence(memory_order_acquire, thread_scope_device);"
        + READ)),
    "acquire load, then a barrier": blocks(FIRST.format(ACQUIRE, BARRIER) + READ),
    "fence, then a barrier": blocks(FIRST.format(RELAXED + FENCE, BARRIER) + READ),
    "barrier, then a fence of all":
        blocks(FIRST.format(RELAXED, BARRIER + FENCE) + READ),
    "barrier of the warp, then a fence of all":
        blocks("if (t < 32) {" + FIRST.format(RELAXED, "__syncwarp();") + FENCE + READ
               + "}"),
    "two barriers, then a fence of all":
        blocks(FIRST.format(RELAXED, BARRIER + BARRIER + FENCE) + READ),
    "barrier of some warps, then a fence of all": blocks(
        f"if (t < 96) {{ {FIRST.format(RELAXED, NAMED + FENCE)} {READ} }}"),
    "passed on within a block": blocks(
        f"if (t == 0) {{ {RELAXED} {FENCE} {PASS_ON} }} if (t == 32) {{ "
        f"while (seen[1] == 0) {{}} {NARROW} {READ} }}"),
    "passed on behind a fence": relay(RELAXED + FENCE + PASS_ON),
    "passed on by release of what was acquired":
        relay(ACQUIRE + "relayed.store(1, memory_order_release);"),
    "passed on behind a fence of what was acquired": relay(ACQUIRE + FENCE + PASS_ON),
    "acquired by another thread, passed on behind a fence":
        relayed(LEARN + BARRIER + FIRST_FENCE + TELL),
    "acquired and fenced by another thread": relayed(LEARN + FENCE + BARRIER + TELL),
    "acquired and fenced by another thread, two barriers":
        relayed(LEARN + LAST_FENCE + BARRIER + FENCE + BARRIER + TELL),
    "acquired and fenced by another of some warps":
        relayed(f"if (t < 96) {{ {LEARN} {LAST_FENCE} {NAMED} {TELL} }}"),
    "acquired and fenced by another of the warp": relayed(
        f"if (t == 1) {{ {ACQUIRE} {FENCE} }} if (t < 32) __syncwarp(); {TELL}"),
    "written by another thread, and a fence":
        together(WRITE + BARRIER + FIRST_FENCE + RAISE),
    "written and fenced by another thread": together(WRITE + FENCE + BARRIER + RAISE),
    "written by another of some warps, and a fence":
        together(f"if (t < 96) {{ {WRITE} {NAMED} {FIRST_FENCE} {RAISE} }}"),
    "written and fenced by another of some warps":
        together(f"if (t < 96) {{ {WRITE} {FENCE} {NAMED} {RAISE} }}"),
    "written by another of the warp, and a fence":
        together(WRITE_BESIDE + f"if (t < 32) __syncwarp(); {FIRST_FENCE} {RAISE}"),
    "written by another of some lanes, and a fence":
        together(WRITE_BESIDE + f"if (t < 4) __syncwarp(15); {FIRST_FENCE} {RAISE}"),
    "one fence behind two relaxed loads": beside(
        f"{RELAXED} while (other.load(memory_order_relaxed) == 0) {{}} {FENCE} {READ}"),
    "barrier in shared memory": Case(COUNTED.format(WAIT), 1, 64),
    "lock": Case(LOCKED.format(FENCE, FENCE), 5, 32),
    "last block": Case(LAST.format(FENCE, FENCE), 5, 32),
    "fence of the block within it":
        warps(f"if (t == 32) {{ {VOLATILE} {NARROW} {READ} }}", NARROW_SENT),
    "fence of the device within the block":
        warps(f"if (t == 32) {{ {VOLATILE} {FENCE} {READ} }}", NARROW_SENT),
    "barrier of those who receive":
        warps(WARP_POLLS + NAMED + READ, NARROW_SENT, BARRIER),
    "barrier of those who receive, when the sender has left":
        warps(WARP_POLLS + NAMED + READ, NARROW_SENT),
    "the flag itself, read plainly":
        single(RELAXED + "\nout[i] = *flag;  // reads\n",
               "raised.store(1, memory_order_release);"),
    "the flag itself, written plainly":
        single(RELAXED + "\n*flag = 2;  // reads\n",
               "raised.store(1, memory_order_release);"),
    "a number drawn, and its own place": Case(
        "__global__ void k(int *flag, int *data, int *out) {\n"
        "  data[atomicAdd(flag, 1)] = 1;  // reads\n}", 2, 64),
}  # fmt: skip

UNORDERED = {
    "relaxed load": single(RELAXED + READ),
    "relaxed load of what is released": single(RELAXED + READ, RELEASED),
    "volatile load": single(VOLATILE + READ),
    "atomic": single(ATOMIC + READ),
    "fence in front of the load": single(FENCE + RELAXED + READ),
    "fence behind the read": single(RELAXED + READ + FENCE),
    "fence of the block between blocks": single(RELAXED + NARROW + READ),
    "fence of C++ for the block": of_library(single(
        RELAXED + "atomic_thread_fence(memory_order_acquire, thread_scope_block);"
        + READ)),
    "fence of another proxy":
        single(RELAXED + PROXY + READ),
    "fence that only releases": single(RELAXED + RELEASES + READ),
    "fence of another thread": blocks(
        f"if (t == 0) {{ {RELAXED} }} if (t == 1) {{ {FENCE} }} "
        f"if (t == 0) {{ {READ} }}"),
    "acquire load of another flag":
        single(RELAXED + "other.load(memory_order_acquire);" + READ),
    "acquire load of another flag that another thread releases": beside(
        f"{RELAXED} while (other.load(memory_order_acquire) == 0) {{}} {READ}"),
    "atomic that only releases": single(
        "while (raised.fetch_add(0, memory_order_release) == 0) {}" + READ),
    "read of another flag": single(
        "while (other.load(memory_order_relaxed) == 0) {}"
        "\nout[i] = *flag;  // reads\n",
        "raised.store(1, memory_order_relaxed);"
        "other.store(1, memory_order_release);"),
    "barrier": blocks(FIRST.format(RELAXED, BARRIER) + READ),
    "barrier, and a fence of the first thread":
        blocks(FIRST.format(RELAXED, BARRIER + f"if (t == 0) {FENCE}") + READ),
    "fence of the block, then a barrier":
        blocks(FIRST.format(RELAXED + NARROW, BARRIER) + READ),
    "barrier of some warps": blocks(
        f"if (t < 96) {{ {FIRST.format(RELAXED, NAMED)} {READ} }}"),
    "barrier of the warp":
        blocks("if (t < 32) {" + FIRST.format(RELAXED, "__syncwarp();") + READ + "}"),
    "passed on without a fence": relay(RELAXED + PASS_ON),
    "passed on by release alone":
        relay(RELAXED + "relayed.store(1, memory_order_release);"),
    "passed on with the fence in front of what was acquired":
        relay(FENCE + ACQUIRE + PASS_ON),
    "acquired by another thread, with the fence in front of the barrier":
        relayed(LEARN + FIRST_FENCE + BARRIER + TELL),
    "acquired by another of some warps, with the fence in front of the barrier":
        relayed(f"if (t < 96) {{ {LEARN} {FIRST_FENCE} {NAMED} {TELL} }}"),
    "acquired by another of the warp, with the fence in front of the barrier": relayed(
        f"if (t == 1) {ACQUIRE} {FIRST_FENCE} if (t < 32) __syncwarp(); {TELL}"),
    "acquired by another thread, and a fence of the block":
        relayed(LEARN + BARRIER + FIRST_FENCE.replace(FENCE, NARROW) + TELL),
    "written by another thread, with the fence in front of the barrier":
        together(WRITE + FIRST_FENCE + BARRIER + RAISE),
    "written by another of some warps, with the fence in front of the barrier":
        together(f"if (t < 96) {{ {WRITE} {FIRST_FENCE} {NAMED} {RAISE} }}"),
    "written by another of the warp, with the fence in front of the barrier":
        together(WRITE_BESIDE + f"{FIRST_FENCE} if (t < 32) __syncwarp(); {RAISE}"),
    "written by another of some lanes, with the fence in front of the barrier":
        together(WRITE_BESIDE + f"{FIRST_FENCE} if (t < 4) __syncwarp(15); {RAISE}"),
    "written by another thread, and fenced by a third":
        together(WRITE + FIRST_FENCE + BARRIER + f"if (t == 96) {FENCE} {RAISE}"),
    "written by another of some lanes, and fenced by a third": together(
        f"{WRITE_BESIDE} {FIRST_FENCE} if (t < 2) __syncwarp(3); "
        f"if (t == 2) {FENCE} {RAISE}"),
    "flag behind a fence of another proxy":
        single(ACQUIRE + READ, SENT.replace(FENCE, PROXY)),
    "flag behind a fence that only acquires":
        single(ACQUIRE + READ, SENT.replace(FENCE, ACQUIRES)),
    "arrival without a wait": Case(COUNTED.format(""), 1, 64),
    "lock without its first fence": Case(LOCKED.format("", FENCE), 5, 32),
    "lock without its second fence": Case(LOCKED.format(FENCE, ""), 5, 32),
    "lock with a first fence of the block": Case(LOCKED.format(NARROW, FENCE), 5, 32),
    "last block without its second fence": Case(LAST.format(FENCE, ""), 5, 32),
    "last block without its first fence": Case(LAST.format("", FENCE), 5, 32),
    "no fence within the block":
        warps(f"if (t == 32) {{ {VOLATILE} {READ} }}", NARROW_SENT),
    "barrier of a warp within the block":
        warps(f"{WARP_POLLS} if (t < 64) {{ __syncwarp(); {READ} }}", NARROW_SENT),
}  # fmt: skip


def arrays() -> tuple:
    return np.zeros(4, np.int32), np.zeros(128, np.int32), np.zeros(384, np.int32)


def check(case: Case, order="forward"):
    """What the interpreter finds."""
    with ck.simulator(timeout_s=20, order=order):
        kernel = ck.compile(case.source)["k"]
        return ck.racecheck(kernel, case.grid, case.block, copy.deepcopy(arrays()))


@pytest.mark.parametrize("order", ["forward", "reverse", 1])
@pytest.mark.parametrize("name", ORDERED)
def test_handshake_is_no_race(name, order):
    found = check(ORDERED[name], order)
    assert (list(found), found.notes) == ([], ())


# What these begin with: nothing has published what is read.
UNTOLD = (
    "acquired by another", "written by another", "passed on with", "passed on by",
    "flag behind", "arrival without", "lock without its second",
    "last block without its first",
)  # fmt: skip


# What each of these emits is told apart by its words in PTX.
OF_LIBRARY = (
    "acquire load", "fence behind a relaxed load of what is released",
    "atomic that acquires and releases", "relaxed load",
    "atomic that only releases", "passed on by release alone",
)  # fmt: skip


@pytest.mark.parametrize("name", OF_LIBRARY)
def test_the_librarys_atomics_are_those_built_in(name):
    found = check(of_library((ORDERED | UNORDERED)[name]))
    assert len(found) == (name in UNORDERED)


@pytest.mark.parametrize("name", UNORDERED)
def test_who_was_told_and_lacks_a_fence_is_told_so(name):
    (found,) = check(UNORDERED[name])
    told = "told the thread that the value is there" in found.message
    assert told == (not name.startswith(UNTOLD))


NEAR = "atomic_ref<int, thread_scope_block>(*flag).load(memory_order_acquire)"
# Here something stands in front of the read that is a race itself.
TWOFOLD = {
    "acquire of the scope of a block": f"while ({NEAR} == 0) {{}} {READ}",
    "volatile read of what is stored plainly":
        f"{RELAXED} out[i] = ((volatile int *)data)[0]; {READ}",
}  # fmt: skip


@pytest.mark.parametrize("name", TWOFOLD)
def test_a_race_makes_no_order(name):
    case = single(TWOFOLD[name])
    assert case.line in [one.line for one in check(case)]


@pytest.mark.parametrize("order", ["forward", "reverse", 1])
@pytest.mark.parametrize("name", UNORDERED)
def test_half_a_handshake_is_a_race(name, order):
    found = check(UNORDERED[name], order)
    assert {(one.kind, one.line) for one in found} == {
        ("DataRaceError", UNORDERED[name].line)
    }
