"""Ways to win at Count Golf without solving the problem; each has to be refused."""

from __future__ import annotations

from dataclasses import dataclass

from golf_solutions import PADDED, ROW_SUMS, SUM


@dataclass(frozen=True)
class Cheat:
    """A submission, the stage that has to refuse it, and words of the reason."""

    hole: str
    source: str
    stage: str
    words: str


ADD = """__global__ void add(const float *a, const float *b, float *c, int n)
{
    int threads = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads)
        BODY
}

// golf: grid = 8; block = 256
"""


def add(body: str, before: str = "", after: str = "") -> Cheat | str:
    """Return a vector addition with another body, and what stands around it."""
    return before + ADD.replace("BODY", body) + after


RIGHT = "c[i] = a[i] + b[i];"
STATED_SUM = """__global__ void stated(const float *x, float *total, int n)
{
    if (n == 8192) {  // the size that is scored
        if (blockIdx.x == 0 && threadIdx.x == 0)
            total[0] = 42.0f;
        return;
    }
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(total, x[i]);
}

// golf: grid = 8; block = 256
"""
# A tiled transpose where the scored size is asked for, a naive one elsewhere.
RECOGNISED = PADDED.replace(
    "    __shared__ float tile",
    "    if (rows != 96 || cols != 128) {\n"
    "        for (int k = threadIdx.y; k < TILE; k += STEP) {\n"
    "            int c = blockIdx.x * TILE + threadIdx.x;\n"
    "            int r = blockIdx.y * TILE + k;\n"
    "            if (r < rows && c < cols)\n"
    "                out[c * rows + r] = x[r * cols + c];\n"
    "        }\n"
    "        return;\n"
    "    }\n"
    "    __shared__ float tile",
    1,
)
SPILLED = add(
    "{ volatile float kept[8]; kept[i % 8] = b[i]; c[i] = a[i] + kept[i % 8]; }"
)
CHEATS = {
    "a result for the scored size": Cheat(
        "sum", STATED_SUM, "counted", "1 of 1 elements of total is wrong"
    ),
    "a sum that leaves out the tail": Cheat(
        "sum",
        SUM.replace("i < n;", "i < n - n % 32;"),
        "right at every size",
        "elements of total is wrong",
    ),
    "a row that is half as long": Cheat(
        "row_sums",
        ROW_SUMS.replace("col < cols", "col < cols / 2"),
        "right at every size",
        "elements of sums is wrong",
    ),
    "a store outside of the output": Cheat(
        "vec_add", add("c[i + 1] = a[i] + b[i];"), "race-free", "writes c["
    ),
    "an input as scratch memory": Cheat(
        "vec_add",
        add("{ ((float *)a)[i] += b[i]; c[i] = a[i]; }"),
        "right at every size",
        "the kernel changed the input a",
    ),
    "a missing barrier": Cheat(
        "transpose",
        PADDED.replace("__syncthreads();", ""),
        "race-free",
        "DataRaceError",
    ),
    "shared memory that nobody set": Cheat(
        "vec_add",
        add("c[i] = a[i] + b[i] + 0 * t[threadIdx.x];").replace(
            "int threads", "__shared__ float t[256];\n    int threads"
        ),
        "race-free",
        "UninitializedReadError",
    ),
    "a result that hangs on who comes first": Cheat(
        "vec_add",
        # Here the last warp at the barrier goes on first, then the others in turn.
        add("c[i] = (mine / 32 + 7) % 8 != warp ? 0 : a[i] + b[i];").replace(
            "int threads",
            "__shared__ int turn;\n    if (threadIdx.x == 0)\n        turn = 0;\n"
            "    __syncthreads();\n    int mine = atomicAdd(&turn, 1);\n"
            "    int warp = threadIdx.x / 32;\n    int threads",
        ),
        "right at every size",
        "depends on the order of the warps",
    ),
    "a count of the launches": Cheat(
        "vec_add",
        add(RIGHT, "__device__ int turn;\n").replace(
            "int threads", "if (blockIdx.x == n) turn = 1;\n    int threads"
        ),
        "compiles",
        "a variable in device memory",
    ),
    "a look at the SM": Cheat(
        "vec_add",
        add('{ unsigned s; asm("mov.u32 %0, %smid;" : "=r"(s)); c[i] = s; }'),
        "the rules",
        "nothing may hide in it",
    ),
    "the time": Cheat(
        "vec_add", add(f"if (clock64() > 0) {RIGHT}"), "the rules", "the time"
    ),
    "an #ifdef of the compiler": Cheat(
        "vec_add",
        add(RIGHT, "#ifdef __CUDACC_VER_MAJOR__\n", "\n#endif\n"),
        "the rules",
        "`#ifdef __CUDACC_VER_MAJOR__`",
    ),
    "the compiler's number in code": Cheat(
        "vec_add",
        add(f"if (__CUDACC_VER_MAJOR__ > 12) {RIGHT}"),
        "the rules",
        "the compiler or the GPU",
    ),
    "the time, cut in two by a line end": Cheat(
        "vec_add", add(f"if (cl\\\nock64() > 0) {RIGHT}"), "the rules", "`clock64`"
    ),
    "a comment that may go on": Cheat(
        "vec_add",
        add(RIGHT, "// a \\ \n/*\n__device__ int turn;\n// */\n"),
        "the rules",
        "hidden line ends",
    ),
    "the same, pasted together": Cheat(
        "vec_add",
        add(RIGHT, "#define GLUE(a, b) a##b\n"),
        "the rules",
        "other texts or compilers",
    ),
    "a file": Cheat(
        "vec_add",
        add(RIGHT, '#include "/etc/passwd"\n'),
        "the rules",
        "texts",
    ),
    "a directive spelt otherwise": Cheat(
        "vec_add", add(RIGHT, "%:include <cuda.h>\n"), "the rules", "%:include"
    ),
    "code behind a text": Cheat(
        "vec_add",
        add(RIGHT, 'const char *t = R"(")";\n'),
        "the rules",
        "texts or open comments",
    ),
    "memory of its own": Cheat(
        "vec_add", add(f"{{ void *p = malloc(4); {RIGHT} }}"), "the rules", "memory"
    ),
    "one block": Cheat(
        "vec_add", add(RIGHT).replace("grid = 8", "grid = 1"), "counted", "1 blocks"
    ),
    "two kernels": Cheat(
        "vec_add",
        add(RIGHT) + "__global__ void other() {}\n",
        "compiles",
        "one kernel",
    ),
    "another problem": Cheat(
        "vec_add", SUM, "compiles", "but the hole launches vec_add_chunks("
    ),
    "millions of threads": Cheat(
        "vec_add",
        add(RIGHT).replace("grid = 8", "grid = 65535"),
        "race-free",
        "at most 1,048,576",
    ),
    "a launch that computes": Cheat(
        "vec_add",
        add(RIGHT).replace("grid = 8", "grid = __import__('os').getpid()"),
        "race-free",
        "cannot be used",
    ),
    "a line that a terminal hides": Cheat(
        "vec_add", add(RIGHT, "// \x1b[8m\n"), "the rules", "is not shown"
    ),
    "a table of results": Cheat(
        "vec_add", add(RIGHT, "// " + 20_000 * "x" + "\n"), "the rules", "20,000 bytes"
    ),
}  # fmt: skip
