"""CUDA C++ on any machine: compile, launch, count and check kernels.

Import as `import coursekit as ck`. Names load what they need when first used, so
that importing is quick and needs neither a GPU nor the libraries for one.
"""

from __future__ import annotations

import importlib

__version__ = "0.1.0"

_HOME = {
    "arrays": ("DeviceArray", "empty", "to_device", "to_host"),
    "checking": ("initcheck", "memcheck", "racecheck", "synccheck"),
    "benchmarking": ("benchmark",),
    "compiler": ("compile",),
    "counting": ("count",),
    "display": ("show", "show_diff"),
    "exercises.student": ("check", "hint", "progress", "reset", "solution"),
    "expect": ("expect_error",),
    "fusing": ("fusion",),
    "golfing.board": ("leaderboard",),
    "hardware": ("device", "devices"),
    "heat": ("show_profile",),
    "magics": ("load_ipython_extension", "module"),
    "minimising": ("minimise",),
    "profiling": ("profile",),
    "reports": ("report",),
    "residency": ("occupancy",),
    "simulation": ("simulator",),
    "tensor_maps": ("tensor_map",),
    "timeline": ("Timeline",),
    "tracing": ("trace",),
    "widgets.draw_digit": ("draw_digit",),
    "widgets.fusion": ("fusion_counter",),
    "widgets.golf": ("golf",),
    "widgets.microscope": ("microscope",),
    "widgets.occupancy": ("occupancy_explorer",),
    "widgets.overlap": ("overlap",),
    "widgets.questions": ("guess", "quiz"),
    "widgets.roofline": ("roofline_explorer",),
    "widgets.scheduler": ("scheduler",),
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
_SUBMODULES = ("doctor", "errors", "plot", "widgets")
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}
__all__ = sorted({*_MODULE_OF, *_SUBMODULES})


def __getattr__(name: str):
    if name in _SUBMODULES:
        return importlib.import_module(f"coursekit.{name}")
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module 'coursekit' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"coursekit.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
