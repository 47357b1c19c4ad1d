"""CUDA C++ on any machine: compile, launch, count and check kernels.

Import as `import coursekit as ck`. Names load what they need when first used, so
that importing is quick and needs neither a GPU nor the libraries for one.
"""

from __future__ import annotations

import importlib

__version__ = "0.1.0"

_HOME = {
    "runtime.arrays": ("empty", "to_device", "to_host"),
    "runtime.device_arrays": ("DeviceArray",),
    "analysis.checking": ("initcheck", "memcheck", "racecheck", "synccheck"),
    "benchmarks": ("recorded_benchmark",),
    "benchmarks.sort": ("radix_sort",),
    "benchmarks.comparing": ("benchmark",),
    "benchmarks.tilings": ("steps_per_block",),
    "runtime.compiler": ("compile",),
    "analysis.counting": ("count", "counted"),
    "display.source": ("show", "show_diff"),
    "exercises.student": ("check", "hint", "progress", "reset", "solution"),
    "display.expected_errors": ("expect_error",),
    "lessons.fusion": ("fusion",),
    "lessons.layouts.layout": ("layout",),
    "exercises.golf.board": ("leaderboard",),
    "hardware": ("device", "devices"),
    "display.line_costs": ("show_profile",),
    "exercises.cells.cuda": ("load_ipython_extension", "module"),
    "lessons.memory_ledger": ("MemoryLedger",),
    "lessons.minimise": ("minimise",),
    "lessons.model_gpu": ("ModelGpu",),
    "lessons.scheduling": ("interleavings", "try_all_orders"),
    "benchmarking.nsight.profiling": ("profile",),
    "benchmarking.nsight.reports": ("report",),
    "analysis.occupancy": ("occupancy",),
    "runtime.numba_kernels": ("from_numba",),
    "runtime.programs.program": ("program",),
    "runtime.ptx_modules": ("load_ptx",),
    "runtime.simulator": ("simulator",),
    "runtime.tensor_maps": ("tensor_map",),
    "runtime.torch_op": ("torch_op",),
    "lessons.timeline": ("Timeline",),
    "analysis.tracing": ("trace",),
    "analysis.triton_simulator": ("triton_simulator",),
    "toolchain.loops": ("busiest_loop",),
    "toolchain.ports": ("clocks_per_ffma",),
    "widgets.compiled": ("show_compiled",),
    "widgets.chip_explorer": ("chip_explorer",),
    "widgets.draw_digit": ("draw_digit",),
    "widgets.fourier_circle": ("fourier_circle",),
    "widgets.fusion": ("fusion_counter",),
    "widgets.golf": ("golf",),
    "widgets.layout_explorer": ("layout_explorer",),
    "widgets.memory_boxes": ("memory_boxes",),
    "widgets.graph_stepper": ("graph_stepper",),
    "widgets.layout_flipper": ("layout_flipper",),
    "widgets.microscope": ("microscope",),
    "widgets.number": ("number_explorer",),
    "widgets.occupancy": ("occupancy_explorer",),
    "widgets.overlap": ("overlap",),
    "widgets.questions": ("guess", "quiz"),
    "widgets.residency": ("residency",),
    "widgets.roofline": ("roofline_explorer",),
    "widgets.scheduler": ("scheduler",),
    "widgets.table_explorer": ("ecosystem", "errata"),
    "widgets.tile_animator": ("tile_animator",),
    "errors": (
        "ArgumentError",
        "BarrierError",
        "CheckFailed",
        "CompileError",
        "CourseError",
        "DataError",
        "DataRaceError",
        "DeadlockError",
        "DeviceError",
        "DivisionByZeroError",
        "HostAccessError",
        "IllegalInstructionError",
        "KernelError",
        "LaunchError",
        "OutOfBoundsError",
        "UninitializedReadError",
        "UnknownNameError",
        "UnsupportedError",
    ),
}
_SUBMODULES = {
    "autograd": "lessons.autograd",
    "cublas": "lessons.cublas",
    "cufft": "lessons.cufft",
    "curand": "lessons.curand",
    "cusolver": "lessons.cusolver",
    "sparse": "lessons.sparse",
    "cudnn": "lessons.cudnn",
    "datasets": "lessons.datasets",
    "doctor": "runtime.doctor",
    "driver": "runtime.driver",
    "errors": "errors",
    "formats": "lessons.formats",
    "matmul": "lessons.matmul",
    "mnist": "lessons.mnist",
    "mnist_race": "benchmarks.mnist_race",
    "model_gpu": "lessons.model_gpu",
    "plot": "plot",
    "records": "benchmarking.records.records",
    "widgets": "widgets",
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}
__all__ = sorted({*_MODULE_OF, *_SUBMODULES})


def __getattr__(name: str) -> object:
    module = _SUBMODULES.get(name) or _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module 'coursekit' has no attribute {name!r}")
    from coursekit.runtime import forks  # small

    with forks.held_off():  # in the child of a fork, an unfinished import never ends
        found = importlib.import_module(f"coursekit.{module}")
    if name in _SUBMODULES:
        return found
    value = getattr(found, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
