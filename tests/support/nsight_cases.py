"""Launches whose counters are compared with Nsight Compute on a GPU.

Single accesses of one warp with every stride, offset, width and mask that matters,
and small kernels of the kinds that the course has.
`python tests/support/nsight_cases.py` runs them all on the GPU, in order, for Nsight
Compute to measure; with the name of a kernel, those of that name.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass

import numpy as np
import shared_kernels
from kernel_launches import plans

import coursekit as ck
from coursekit import paths

BYTES = {"char": 1, "short": 2, "float": 4, "double": 8, "float2": 8, "float4": 16}
DTYPES = {"char": "i1", "short": "i2", "double": "f8"}
MASKS = ("true", "t % 3 == 0", "t < 9", "t >= 16 && t < 24", "t == 31", "t % 2")
WORDS = 4096


@dataclass(frozen=True)
class Case:
    """One launch: a name, CUDA C++ or the path of a file, and how to launch it."""

    name: str
    source: str
    grid: object = 1
    block: object = 32
    arguments: tuple = ()
    kernel: str = "k"
    shared_bytes: int = 0
    cooperative: bool = False
    arch: str | None = None

    @property
    def function(self):
        """The compiled kernel."""
        return ck.compile(self.source, arch=self.arch)[self.kernel]


def _array(kind: str) -> np.ndarray:
    return np.zeros(WORDS * 4 // BYTES[kind] * _lanes(kind), DTYPES.get(kind, "f4"))


def _lanes(kind: str) -> int:
    return {"float2": 2, "float4": 4}.get(kind, 1)


def _indices(seed: int, limit: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, limit, 32).astype(np.int32)


def global_accesses():
    """Yield loads and stores of one warp by stride, offset, width and mask."""
    for kind in BYTES:
        for stride in (0, 1, 2, 3, 8, 17):
            for offset in (0, 1, 5):
                yield _global(kind, f"t * {stride} + {offset}", "true")
        for mask in MASKS[1:]:
            yield _global(kind, "t * 2 + 1", mask)


def _global(kind: str, index: str, mask: str) -> Case:
    return Case(
        f"global {kind} [{index}] if {mask}",
        f"""__global__ void k(const {kind}* a, {kind}* b) {{
          int t = threadIdx.x;
          if ({mask}) b[{index}] = a[{index}];
        }}""",
        arguments=(_array(kind), _array(kind)),
    )


def shared_accesses():
    """Yield shared loads and stores by pattern, width and mask."""
    for kind in ("char", "short", "float", "double", "float4"):
        limit = 8192 // BYTES[kind]
        for stride in (0, 1, 2, 3, 4, 8, 16, 32, 33):
            if 31 * stride < limit:
                yield _shared(kind, np.arange(32) * stride, "true")
        for seed in (1, 2):
            yield _shared(kind, _indices(seed, limit), "true")
        for pair in (1, 2):
            yield _shared(kind, (np.arange(32) // (2 * pair) * 5) % limit, "true")
            yield _shared(kind, (np.arange(32) & ~pair) * 2, "true")
        for mask in MASKS[1:]:
            yield _shared(kind, np.arange(32) * 2, mask)


def _shared(kind: str, index: np.ndarray, mask: str) -> Case:
    shown = " ".join(map(str, index[:5]))
    return Case(
        f"shared {kind} [{shown} ...] if {mask}",
        f"""__global__ void k(const int* index, {kind}* out) {{
          __shared__ {kind} tile[8192 / sizeof({kind})];
          int t = threadIdx.x, i = index[t];
          {kind} v = {{}};
          if ({mask}) tile[i] = v;
          __syncwarp();
          if ({mask}) v = *(volatile {kind}*)(tile + i);
          out[t] = v;
        }}""".replace("*(volatile float4*)(tile + i)", "tile[i]"),
        arguments=(index.astype(np.int32), _array(kind)),
    )


def atomics():
    """Yield atomics on global and shared memory, with and without a result."""
    patterns = {
        "one": np.zeros(32), "own": np.arange(32), "pairs": np.arange(32) // 2,
        "stride 8": np.arange(32) * 8, "random": _indices(3, 40),
        "banks": np.arange(32) * 32 % 96,
    }  # fmt: skip
    for name, index in patterns.items():
        for kind in ("int", "float"):
            for result in (False, True):
                yield _atomic(name, index.astype(np.int32), kind, result)


SHARED_ATOMICS = {
    "add": ("int", "atomicAdd(s + i, t + 1)"),
    "max": ("int", "atomicMax(s + i, t + 1)"),
    "exchange": ("int", "v = atomicExch(s + i, t + 1)"),
    "add with result": ("int", "v = atomicAdd(s + i, t + 1)"),
    "increment": ("int", "atomicAdd(s + i, 1)"),
    "compare and swap": ("int", "v = atomicCAS(s + i, 0, t + 1)"),
    "wide compare and swap": ("unsigned long long",
                              "v = atomicCAS(s + i, 0ull, t + 1ull)"),
    "add floats": ("float", "atomicAdd(s + i, 1.0f)"),
}  # fmt: skip
UNIFORM_ATOMICS = {
    "int": ("atomicAdd(x, 1)", "out[t] = atomicAdd(x, 1)", "atomicAdd(x, t)",
            "atomicMax(x, t)", "atomicExch(x, t)", "if (t == 3) atomicAdd(x, 1)",
            "if (t % 3 == 0) atomicAdd(x, 1)", "atomicAdd(x + t, 1)"),
    "float": ("atomicAdd(x, 1.0f)",),
}  # fmt: skip


def more_atomics():
    """Yield atomics of shared memory, to one address, and of scattered lanes."""
    patterns = {
        "one": np.zeros(32), "own": np.arange(32), "pairs": np.arange(32) // 2,
        "stride 8": np.arange(32) * 8, "stride 32": np.arange(32) * 32,
        "random": _indices(3, 40), "random too": _indices(5, 1024),
    }  # fmt: skip
    for name, (kind, statement) in SHARED_ATOMICS.items():
        for shown, index in patterns.items():
            yield _shared_atomic(f"{name} {shown}", index, kind, statement)
    for kind, statements in UNIFORM_ATOMICS.items():
        for statement in statements:
            source = f"""__global__ void k({kind}* x, {kind}* out) {{
              int t = threadIdx.x;
              {statement};
            }}"""
            x = np.zeros(32, np.int32 if kind == "int" else np.float32)
            yield Case(f"atomic {kind} {statement}", source, arguments=(x, x.copy()))
    for seed in range(32):
        limit = (64, 128, 256, 1024)[seed % 4]
        yield _atomic(f"scattered {seed}", _indices(100 + seed, limit), "int", False)


def _shared_atomic(name: str, index: np.ndarray, kind: str, statement: str) -> Case:
    dtype = {"int": np.int32, "float": np.float32}.get(kind, np.uint64)
    return Case(
        f"shared atomic {name}",
        f"""__global__ void k(const int* index, {kind}* out) {{
          __shared__ {kind} s[1024];
          int t = threadIdx.x, i = index[t];
          s[t] = 0;
          __syncthreads();
          {kind} v = 0;
          {statement};
          __syncthreads();
          out[t] = s[t] + v;
        }}""",
        arguments=(index.astype(np.int32), np.zeros(32, dtype)),
    )


def _atomic(name: str, index: np.ndarray, kind: str, result: bool) -> Case:
    dtype = np.int32 if kind == "int" else np.float32
    keep = "out[t] =" if result else ""
    return Case(
        f"atomic {kind} {name}{' with result' if result else ''}",
        f"""__global__ void k(const int* index, {kind}* x, {kind}* out) {{
          int t = threadIdx.x;
          {keep} atomicAdd(x + index[t], ({kind})(t + 1));
        }}""",
        arguments=(index, np.zeros(1024, dtype), np.zeros(32, dtype)),
    )


COPY = "async_copy"
# Instruction, type of the source, bytes.
COPIES = (("ca", "float", 4), ("ca", "float2", 8), ("ca", "float4", 16),
          ("cg", "float4", 16))  # fmt: skip


def async_copies():
    """Yield `cp.async` of one warp by source, destination, width, mask and cache."""
    t = np.arange(32)
    for cache, kind, size in COPIES:
        limit = 8192 // size
        sources = {"own": t, "one": 0 * t, "next": t + 1, "backwards": 31 - t,
                   "stride 2": 2 * t, "stride 8": 8 * t, "stride 17": 17 * t,
                   "random": _indices(4, 512)}  # fmt: skip
        for name, source in sources.items():
            yield _copy(cache, kind, size, (name, source), ("own", t))
        places = {f"stride {s}": s * t for s in (2, 3, 4, 8, 16, 32, 33)}
        places |= {"next": t + 1, "backwards": 31 - t, "pairs": t & ~1,
                   "random": np.random.default_rng(5).permutation(limit)[:32],
                   "random too": np.random.default_rng(6).permutation(limit)[:32],
                   "shuffled": np.random.default_rng(7).permutation(32)}  # fmt: skip
        for name, place in places.items():
            if place.max() < limit:
                yield _copy(cache, kind, size, ("own", t), (name, place))
        for mask in MASKS[1:]:
            for place in (("own", t), ("stride 2", 2 * t)):
                yield _copy(cache, kind, size, ("own", t), place, mask)
        for bytes_ in (0, "t % 2 * SIZE", "t < 9 ? SIZE : SIZE / 2"):
            shown = str(bytes_).replace("SIZE", str(size))
            yield _copy(cache, kind, size, ("own", t), ("own", t), amount=shown)
        yield from _scattered_copies(cache, kind, size)
    tiles = np.zeros(8 * 256, np.float32)
    yield Case(
        "async copy of tiles", ASYNC_TILES, 2, 256, (tiles, tiles.copy(), 8), COPY
    )


def _scattered_copies(cache, kind, size):
    """Yield copies whose lanes are out of order at both ends, and some with zeros."""
    t, none = np.arange(32), "start[t + 32]"
    for seed in range(8):
        rng = np.random.default_rng(20 + seed)
        reach = (32, 64, 128, 512)[seed % 4]
        ends = [rng.integers(0, reach, 32), rng.permutation(reach)[:32]]
        mask = ("true", "t % 3 == 0")[seed // 4]
        yield _copy(
            cache, kind, size, (f"random {seed}", ends[0]), (f"{seed}", ends[1]), mask
        )
    for amount in (none, f"t % 2 ? {size} : {none}", f"t < 9 ? {size} : {none}"):
        for source in (("one", 0 * t), ("stride 2", 2 * t)):
            yield _copy(cache, kind, size, source, ("own", t), amount=amount)


def _copy(cache, kind, size, source, place, mask="true", amount="") -> Case:
    (origin, start), (target, end) = source, place
    given = f', "r"({amount})' if amount else ""
    shown = f", {amount} bytes" if amount else ""
    return Case(
        f"async copy {cache} {size} B, {origin} to {target} if {mask}{shown}",
        f"""__global__ void {COPY}(
            const int* start, const int* end, const {kind}* a, {kind}* out) {{
          __shared__ alignas(16) {kind} tile[8192 / sizeof({kind})];
          int t = threadIdx.x, i = start[t], j = end[t];
          unsigned to = (unsigned)__cvta_generic_to_shared(tile + j);
          if ({mask})
            asm volatile("cp.async.{cache}.shared.global [%0], [%1], {size}"
                "{", %2" if amount else ""};" ::"r"(to), "l"(a + i){given} : "memory");
          asm volatile("cp.async.wait_all;" ::: "memory");
          if ({mask}) out[t] = tile[j];
        }}""",
        arguments=(
            np.append(start, 0 * start).astype(np.int32), end.astype(np.int32),
            _array(kind), _array(kind),
        ),
        kernel=COPY,
    )  # fmt: skip


ASYNC_TILES = """#include <cuda_pipeline.h>
__global__ void async_copy(const float* x, float* sums, int tiles) {
  __shared__ float tile[2][256];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[0][t], x + t, 4);
  __pipeline_commit();
  float sum = 0;
  for (int i = 0; i < tiles; ++i) {
    if (i + 1 < tiles)
      __pipeline_memcpy_async(&tile[(i + 1) % 2][t], x + (i + 1) * 256 + t, 4);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    sum += tile[i % 2][255 - t];
    __syncthreads();
  }
  sums[blockIdx.x * 256 + t] = sum;
}"""
TRANSPOSE = """__global__ void k(const float* in, float* out, int n) {
  __shared__ float tile[32][32 + PAD];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < n && y + j < n) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < n && y + j < n) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}"""
MATMUL = """__global__ void k(const float* a, const float* b, float* c, int n) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= n || col >= n) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + col];
  c[row * n + col] = sum;
}"""
REDUCE = """__global__ void k(const float* x, float* out, int n) {
  float v = 0;
  int step = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
    v += x[i];
  for (int o = 16; o; o /= 2) v += __shfl_down_sync(~0u, v, o);
  if (threadIdx.x % 32 == 0) atomicAdd(out, v);
}"""
HISTOGRAM = """__global__ void k(const unsigned char* x, int* bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(bins + x[i], 1);
}"""


def kernels():
    """Yield small kernels of the course's kinds."""
    n, square = 77, np.zeros(77 * 77, np.float32)
    grid, shape = (3, 3), (32, 8)
    for pad in (0, 1):
        source = TRANSPOSE.replace("PAD", str(pad))
        yield Case(f"transpose pad {pad}", source, grid, shape, (square, square, n))
    for block in ((16, 16), (32, 4), (1, 64)):
        blocks = (-(-n // block[0]), -(-n // block[1]))
        arguments = (square, square, square.copy(), n)
        yield Case(f"matmul {block}", MATMUL, blocks, block, arguments)
    ones = np.ones(5000, np.float32)
    yield Case("reduce", REDUCE, 4, 256, (ones, np.zeros(1, np.float32), 5000))
    data = np.random.default_rng(5).integers(0, 256, 5000).astype(np.uint8)
    bins = np.zeros(256, np.int32)
    yield Case("histogram", HISTOGRAM, 20, 256, (data, bins, 5000))


def joined_accesses():
    """Yield kernels whose shared accesses the assembler joins or keeps apart."""
    square, line = np.zeros((64, 64), np.float32), np.zeros(512, np.float32)
    matrices = (square, square, square.copy(), 64)
    for tile in (16, 32):
        source = shared_kernels.TILED.replace("TILE", str(tile))
        grid = (64 // tile, 64 // tile)
        yield Case(f"tiled matmul {tile}", source, grid, (tile, tile), matrices)
    registers = shared_kernels.REGISTERS
    yield Case("register tiles", registers, 1, 256, matrices)
    wide = shared_kernels.REGISTERS_FLOAT4
    yield Case("register tiles float4", wide, 1, 256, matrices)
    reduction = shared_kernels.REDUCTION
    yield Case("reduction in shared memory", reduction, 2, 256, (line, line.copy()))
    three = shared_kernels.THREE_WORDS
    yield Case("three words of four", three, 1, 128, (line, line.copy()))
    count = np.full(64, 37, np.int32)
    yield Case(
        "loop unrolled by ptxas", shared_kernels.UNROLLED, 1, 64,
        (count, line.copy()), shared_bytes=256,
    )  # fmt: skip


# Kernels that are wrong, and those that wait for one another in loops.
_LEFT_OUT = ("broken/", "warps/handover.cu")
_NEEDS = re.compile(r"^// needs: (\w+a)$", re.MULTILINE)


def course_kernels():
    """Yield the kernels of the course, those that print or fail left out."""
    for path, plan in plans().items():
        for sizes in plan.sizes[-2:]:
            launch = plan.launch(**sizes)
            if path.startswith(_LEFT_OUT) or launch.prints or launch.defines:
                continue
            shown = ", ".join(f"{name}={size}" for name, size in sizes.items())
            yield Case(
                f"{path} {shown}", path, launch.grid, launch.block, launch.arguments,
                launch.kernel, launch.shared_bytes, launch.cooperative, _needed(path),
            )  # fmt: skip


def _needed(path: str) -> str | None:
    """The architecture that a file asks for, where no other runs its kernels."""
    found = _NEEDS.search((paths.kernels() / path).read_text(encoding="utf-8"))
    return found and found[1]


def all_cases() -> list[Case]:
    """All launches, in a fixed order."""
    return [
        *global_accesses(), *shared_accesses(), *atomics(), *kernels(),
        *joined_accesses(), *async_copies(), *more_atomics(), *course_kernels(),
    ]  # fmt: skip


def main() -> None:
    """Launch everything on the GPU, or the kernels of one name."""
    for case in all_cases():
        if case.kernel in sys.argv[1:] or not sys.argv[1:]:
            case.function.launch(
                case.grid, case.block, *case.arguments,
                shared_bytes=case.shared_bytes, cooperative=case.cooperative,
            )  # fmt: skip


if __name__ == "__main__":
    main()
