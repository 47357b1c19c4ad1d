"""Drawings of chapter 04: from source to machine code, and how it is launched."""

from __future__ import annotations

from drawing import HEAD, SMALL, SMALL_CODE, Drawing
from shapes import Point, Rectangle


def phases() -> Drawing:
    """Draw what nvcc does with one file."""
    d = Drawing(
        "04_phases",
        """What nvcc does with a file vec_add.cu. It is split into code for the host and
        code for the device. The host's C++ goes to the system's compiler, which
        makes an object file. The device's C++ goes to cicc, which optimises and
        writes PTX. ptxas turns PTX into machine code for one GPU, a cubin. fatbinary
        packs cubin and PTX together, and the pack is put into the object file, so
        that a program carries both. Later, on another GPU, the driver may turn the
        same PTX into machine code.""",
        430,
    )
    source = d.box(Rectangle(300, 8, 160, 40), "vec_add.cu", fill="sky")
    split = d.box(Rectangle(270, 78, 220, 40), "cudafe++ splits it")
    d.arrow(source.foot, split.top)
    d.head((112, 150), "for the host")
    d.head((560, 150), "for the device")
    host = d.box(Rectangle(24, 172, 176, 40), "C++, with launches", fill="plain")
    gcc = d.box(Rectangle(24, 252, 176, 40), "g++ or cl", fill="amber")
    done = d.box(
        Rectangle(24, 352, 176, 54), "object file,\nthen a program", fill="sky"
    )
    _chain(d, host, gcc, done)
    d.line((270, 98), (236, 98), (236, 192), (200, 192), head=True)
    names = ("CUDA C++", "cicc: optimises", "PTX", "ptxas", "cubin (SASS)")
    fills = ("plain", "amber", "green", "amber", "pink")
    boxes = []
    for number, (name, fill) in enumerate(zip(names, fills, strict=True)):
        place = Rectangle(490, 172 + 48 * number, 150, 32)
        boxes.append(d.box(place, name, fill=fill))
    _chain(d, *boxes)
    d.line((490, 98), (565, 98), (565, 134))
    d.box(Rectangle(262, 352, 150, 54), "fatbinary\npacks both", fill="amber")
    d.line((490, 284), (440, 284), (440, 366), (412, 366), head=True)
    d.line((490, 380), (412, 380), head=True)
    d.arrow((262, 379), (200, 379))
    later = "the driver,\nlater, on\nother GPUs"
    jit = d.box(Rectangle(660, 268, 92, 84), later, fill="idle", font=SMALL)
    d.line((640, 284), (660, 284), head=True, dashed=True)
    d.line((jit.foot[0], jit.bottom), (jit.foot[0], 380), (640, 380), head=True,
           dashed=True)  # fmt: skip
    return d


def _chain(d: Drawing, *boxes: Rectangle) -> None:
    for above, below in zip(boxes, boxes[1:], strict=False):
        d.arrow(above.foot, below.top)


def select() -> Drawing:
    """Draw four lanes through a branch, and through a select."""
    d = Drawing(
        "04_select",
        """Four lanes with the values 3, -2, 5 and -1, of which negative ones are to be
        multiplied by 0.5. Left, with a branch: first the lanes with 3 and 5 run one
        side while the others wait, then the lanes with -2 and -1 run the other side.
        Right, with a select: all four lanes compute 0.5 times their value, and each
        then keeps one of its two values: 3, -1, 5 and -0.5. No lane waits.""",
        330,
    )
    values = ("3", "-2", "5", "-1")
    _lanes(d, (24, 66), "a branch", values)
    _lanes(d, (416, 66), "a select", values)
    rows = (
        ("y = x", ("3", "", "5", "")),
        ("y = 0.5 * x", ("", "-1", "", "-0.5")),
    )
    for number, (text, kept) in enumerate(rows):
        y = 130 + 76 * number
        d.code((24, y), text)
        d.cells((24, y + 16), kept, size=(64, 32), gap=8,
                fill=lambda n, k=kept: "green" if k[n] else "idle")  # fmt: skip
    halves, kept = ("1.5", "-1", "2.5", "-0.5"), ("3", "-1", "5", "-0.5")
    d.code((416, 130), "t = 0.5 * x")
    d.cells((416, 146), halves, size=(64, 32), gap=8, fill="green")
    d.code((416, 206), "y = x > 0 ? x : t")
    d.cells((416, 222), kept, size=(64, 32), gap=8, fill="green")
    d.label((24, 296), "two sides, one after the other:\ngrey lanes wait")
    d.label((416, 296), "one way for all lanes:\nboth values, then a choice")
    return d


def _lanes(d: Drawing, corner: Point, title: str, values: tuple[str, ...]) -> None:
    d.label((corner[0], corner[1] - 42), title, font=HEAD)
    d.cells(corner, values, size=(64, 32), gap=8, fill="sky")


def unrolled() -> Drawing:
    """Draw eight iterations, and the same work unrolled by four."""
    d = Drawing(
        "04_unrolled",
        """The instructions of eight iterations. Above, as a loop: each of the eight
        iterations has an FMA, an addition to the counter, a comparison and a branch,
        32 instructions in all. Below, unrolled by four: four FMAs, then one addition,
        one comparison and one branch, twice; 14 instructions in all.""",
        226,
    )
    d.note((8, 22), "the loop: 8 * 4 instructions")
    for number in range(8):
        x = 12 + 92 * number
        d.cells((x, 44), ("F", "+", "<", "B"), size=(21, 40), font=SMALL_CODE,
                fill=lambda n: "green" if n == 0 else "amber")  # fmt: skip
    d.note((8, 124), "unrolled by 4: 2 * 7 instructions")
    for number in range(2):
        x = 12 + 172 * number
        d.cells((x, 146), ("F", "F", "F", "F", "+", "<", "B"), size=(21, 40),
                font=SMALL_CODE,
                fill=lambda n: "green" if n < 4 else "amber")  # fmt: skip
    d.label(
        (400, 166), "F: the FMA      + < B: counter,\ncomparison and branch", font=SMALL
    )
    return d


def contraction() -> Drawing:
    """Draw a product and a sum with two roundings, and with one."""
    d = Drawing(
        "04_contraction",
        """Two ways to compute a * x + y. Above, mul.f32 and add.f32: the exact product
        has up to 48 bits and is rounded to 24; the sum of that and y is rounded to
        24 again. Below, fma.rn.f32: y is added to the exact product, and only the
        result is rounded.""",
        248,
    )
    d.code((12, 24), "mul.f32, then add.f32")
    _steps(d, 52, ("a * x,\n48 bits", "round\nto 24", "+ y", "round\nto 24"),
           ("plain", "red", "plain", "red"))  # fmt: skip
    d.code((12, 160), "fma.rn.f32")
    _steps(d, 188, ("a * x,\n48 bits", "+ y", "round\nto 24"),
           ("plain", "plain", "red"))  # fmt: skip
    d.label((748, 76), "two roundings", fill="red", anchor="end")
    d.label((748, 212), "one rounding", fill="red", anchor="end")
    return d


def _steps(
    d: Drawing, y: float, texts: tuple[str, ...], fills: tuple[str, ...]
) -> None:
    boxes = []
    for number, (text, fill) in enumerate(zip(texts, fills, strict=True)):
        place = Rectangle(12 + 144 * number, y, 112, 50)
        boxes.append(d.box(place, text, fill=fill))
    for before, after in zip(boxes, boxes[1:], strict=False):
        d.arrow((before.right, before.centre[1]), (after.x, after.centre[1]))


def family() -> Drawing:
    """Draw which representation each language passes through."""
    d = Drawing(
        "04_family",
        """From languages to machine code. CUDA C++ and Numba are translated to NVVM IR,
        which is LLVM IR with rules for GPUs.
        Triton and JAX go through MLIR, with dialects of their own, to the same
        LLVM and NVVM IR. NVVM IR becomes PTX, and ptxas or the driver makes SASS of
        it. cuTile goes through another way: Tile IR, an MLIR dialect of NVIDIA, which
        the assembler tileiras turns into SASS.""",
        388,
    )
    d.head((84, 20), "languages")
    d.head((296, 20), "MLIR")
    d.head((520, 20), "LLVM, then PTX")
    cpp = d.box(Rectangle(12, 44, 144, 36), "CUDA C++", fill="sky")
    numba = d.box(Rectangle(12, 100, 144, 36), "Numba", fill="sky")
    triton = d.box(Rectangle(12, 168, 144, 36), "Triton", fill="sky")
    jax = d.box(Rectangle(12, 224, 144, 36), "JAX (XLA)", fill="sky")
    tile = d.box(Rectangle(12, 320, 144, 36), "cuTile", fill="sky")
    ttir = d.box(
        Rectangle(224, 160, 144, 52), "Triton's and\nGPU dialects", fill="green"
    )
    hlo = d.box(Rectangle(224, 220, 144, 44), "StableHLO", fill="green")
    tile_ir = d.box(Rectangle(224, 320, 144, 36), "CUDA Tile IR", fill="green")
    nvvm = d.box(Rectangle(448, 76, 144, 52), "NVVM IR\n(LLVM IR)", fill="amber")
    ptx = d.box(Rectangle(448, 192, 144, 40), "PTX", fill="amber")
    sass = d.box(Rectangle(640, 250, 108, 52), "SASS,\nfor one GPU", fill="pink")
    for start, end in ((cpp, nvvm), (numba, nvvm)):
        d.line((start.right, start.centre[1]), (412, start.centre[1]),
               (412, end.centre[1]), (end.x, end.centre[1]), head=True)  # fmt: skip
    for start, end in ((triton, ttir), (jax, hlo), (tile, tile_ir)):
        d.arrow((start.right, start.centre[1]), (end.x, start.centre[1]))
    for start in (ttir, hlo):
        d.line((start.right, start.centre[1]), (412, start.centre[1]), (412, 102))
    d.arrow(nvvm.foot, ptx.top)
    d.note((604, 160), "libNVVM or LLVM")
    d.line((ptx.right, 212), (sass.top[0], 212), sass.top, head=True)
    d.note((604, 188), "ptxas, or the driver")
    d.line((tile_ir.right, 338), (sass.foot[0], 338), sass.foot, head=True)
    d.note((448, 366), "tileiras: no PTX on this way")
    return d


def fat_binary() -> Drawing:
    """Draw a fat binary and three GPUs that choose from it."""
    d = Drawing(
        "04_fat_binary",
        """A fat binary with three images: machine code sm_80, machine code sm_90 and
        PTX compute_90. Three GPUs choose. An RTX 3070 with compute capability 8.6 runs
        the machine code sm_80: the same generation, and not older. An H200 with 9.0
        runs sm_90. A B200 with 10.0 finds no machine code of its generation: the
        driver compiles the PTX for it, and keeps the result in a cache.""",
        310,
    )
    d.frame(12, 30, 220, 250)
    d.head((122, 30), "fat binary")
    images = []
    rows = (("sm_80", "pink"), ("sm_90", "pink"), ("compute_90", "green"))
    for number, (name, fill) in enumerate(rows):
        place = Rectangle(30, 62 + 74 * number, 184, 48)
        kind = "PTX" if fill == "green" else "machine code"
        images.append(d.box(place, f"{kind}\n{name}", fill=fill, font=SMALL_CODE))
    gpus = (
        ("RTX 3070: 8.6", "runs sm_80 as it is"),
        ("H200: 9.0", "runs sm_90 as it is"),
        ("B200: 10.0", "the driver compiles the PTX"),
    )
    for number, (name, what) in enumerate(gpus):
        y = images[number].centre[1]
        gpu = d.box(Rectangle(330, y - 22, 150, 44), name, fill="sky")
        d.line((214, y), (gpu.x, y), head=True, dashed=number == 2)
        d.note((496, y), what)
    return d


def driver_calls() -> Drawing:
    """Draw the calls of one launch, and what each returns."""
    d = Drawing(
        "04_driver_calls",
        """The calls of the driver API for one launch, from top to bottom, each with
        what it returns. cuInit returns nothing. cuDeviceGet returns a device;
        cuCtxCreate takes it and returns a context; cuModuleLoadData takes PTX
        or machine code and returns a module; cuModuleGetFunction takes the
        module and a kernel's name and returns a function; cuLaunchKernel
        takes the function, a grid, a block and the parameters.
        cuCtxSynchronize waits, and reports what went wrong.""",
        436,
    )
    rows = (
        ("cuInit(0)", ""),
        ("cuDeviceGet(0)", "device"),
        ("cuCtxCreate(..., device)", "context"),
        ("cuModuleLoadData(image)", "module"),
        ("cuModuleGetFunction(module, name)", "function"),
        ("cuLaunchKernel(function, ...)", ""),
        ("cuCtxSynchronize()", ""),
    )
    boxes = []
    for number, (call, value) in enumerate(rows):
        y = 12 + 60 * number
        boxes.append(
            d.box(Rectangle(12, y, 320, 36), call, fill="sky", font=SMALL_CODE)
        )
        if value:
            found = d.box(Rectangle(396, y, 110, 36), value, fill="amber")
            d.arrow((332, y + 18), (found.x, y + 18))
            d.line((found.centre[0], found.bottom), (found.centre[0], y + 49),
                   (250, y + 49), (250, y + 60), head=True)  # fmt: skip
    for above, below in zip(boxes, boxes[1:], strict=False):
        d.arrow((80, above.bottom), (80, below.y))
    d.note((530, 150), "one per program and GPU")
    d.note((530, 210), "PTX is compiled here")
    d.note((352, 330), "returns before the kernel has run")
    d.note((352, 390), "waits, and reports a fault")
    return d


def parameters() -> Drawing:
    """Draw the array of addresses that cuLaunchKernel reads."""
    d = Drawing(
        "04_parameters",
        """How parameters reach a kernel. kernelParams is an array of four addresses,
        one per parameter. Each points to a value on the host: the device address x
        with 8 bytes, y with 8 bytes, the float a with 4 bytes and the int n with 4.
        The driver copies as many bytes from each address as the PTX declares: .u64,
        .u64, .f32 and .u32.""",
        250,
    )
    d.note((8, 34), "kernelParams")
    d.note((8, 128), "values, on\nthe host")
    d.note((8, 216), "declared\nin the PTX")
    rows = (
        ("x", "8 bytes", ".u64"),
        ("y", "8 bytes", ".u64"),
        ("a", "4 bytes", ".f32"),
        ("n", "4 bytes", ".u32"),
    )
    for number, (name, size, kind) in enumerate(rows):
        x = 128 + 156 * number
        address = d.box(Rectangle(x, 16, 130, 36), "address", fill="plain")
        wide = 130 if size[0] == "8" else 78
        value = d.box(Rectangle(x, 106, wide, 44), f"{name}\n{size}", fill="amber",
                      font=SMALL)  # fmt: skip
        declared = d.box(
            Rectangle(x, 198, wide, 36), kind, fill="green", font=SMALL_CODE
        )
        d.arrow((value.centre[0], address.bottom), value.top)
        d.arrow(value.foot, declared.top)
    return d


DRAW = (
    phases,
    select,
    unrolled,
    contraction,
    family,
    fat_binary,
    driver_calls,
    parameters,
)
