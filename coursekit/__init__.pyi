"""What a type checker sees of coursekit: the names of `__init__.py` and their homes."""

from coursekit import errors as errors
from coursekit import plot as plot
from coursekit import widgets as widgets
from coursekit.analysis.checking import initcheck as initcheck
from coursekit.analysis.checking import memcheck as memcheck
from coursekit.analysis.checking import racecheck as racecheck
from coursekit.analysis.checking import synccheck as synccheck
from coursekit.analysis.counting import count as count
from coursekit.analysis.counting import counted as counted
from coursekit.analysis.occupancy import occupancy as occupancy
from coursekit.analysis.tracing import trace as trace
from coursekit.benchmarking.nsight.profiling import profile as profile
from coursekit.benchmarking.nsight.reports import report as report
from coursekit.benchmarking.records import records as records
from coursekit.benchmarks import mnist_race as mnist_race
from coursekit.benchmarks import recorded_benchmark as recorded_benchmark
from coursekit.benchmarks.comparing import benchmark as benchmark
from coursekit.benchmarks.tilings import steps_per_block as steps_per_block
from coursekit.display.expected_errors import expect_error as expect_error
from coursekit.display.line_costs import show_profile as show_profile
from coursekit.display.source import show as show
from coursekit.display.source import show_diff as show_diff
from coursekit.errors import ArgumentError as ArgumentError
from coursekit.errors import BarrierError as BarrierError
from coursekit.errors import CheckFailed as CheckFailed
from coursekit.errors import CompileError as CompileError
from coursekit.errors import CourseError as CourseError
from coursekit.errors import DataError as DataError
from coursekit.errors import DataRaceError as DataRaceError
from coursekit.errors import DeadlockError as DeadlockError
from coursekit.errors import DeviceError as DeviceError
from coursekit.errors import DivisionByZeroError as DivisionByZeroError
from coursekit.errors import HostAccessError as HostAccessError
from coursekit.errors import IllegalInstructionError as IllegalInstructionError
from coursekit.errors import KernelError as KernelError
from coursekit.errors import LaunchError as LaunchError
from coursekit.errors import OutOfBoundsError as OutOfBoundsError
from coursekit.errors import UninitializedReadError as UninitializedReadError
from coursekit.errors import UnknownNameError as UnknownNameError
from coursekit.errors import UnsupportedError as UnsupportedError
from coursekit.exercises.cells.cuda import (
    load_ipython_extension as load_ipython_extension,
)
from coursekit.exercises.cells.cuda import module as module
from coursekit.exercises.golf.board import leaderboard as leaderboard
from coursekit.exercises.student import check as check
from coursekit.exercises.student import hint as hint
from coursekit.exercises.student import progress as progress
from coursekit.exercises.student import reset as reset
from coursekit.exercises.student import solution as solution
from coursekit.hardware import device as device
from coursekit.hardware import devices as devices
from coursekit.lessons import autograd as autograd
from coursekit.lessons import datasets as datasets
from coursekit.lessons import matmul as matmul
from coursekit.lessons import mnist as mnist
from coursekit.lessons import model_gpu as model_gpu
from coursekit.lessons.fusion import fusion as fusion
from coursekit.lessons.memory_ledger import MemoryLedger as MemoryLedger
from coursekit.lessons.minimise import minimise as minimise
from coursekit.lessons.model_gpu import ModelGpu as ModelGpu
from coursekit.lessons.scheduling import interleavings as interleavings
from coursekit.lessons.scheduling import try_all_orders as try_all_orders
from coursekit.lessons.timeline import Timeline as Timeline
from coursekit.runtime import doctor as doctor
from coursekit.runtime.arrays import empty as empty
from coursekit.runtime.arrays import to_device as to_device
from coursekit.runtime.arrays import to_host as to_host
from coursekit.runtime.compiler import compile as compile
from coursekit.runtime.device_arrays import DeviceArray as DeviceArray
from coursekit.runtime.simulator import simulator as simulator
from coursekit.runtime.tensor_maps import tensor_map as tensor_map
from coursekit.toolchain.loops import busiest_loop as busiest_loop
from coursekit.toolchain.ports import clocks_per_ffma as clocks_per_ffma
from coursekit.widgets.draw_digit import draw_digit as draw_digit
from coursekit.widgets.fusion import fusion_counter as fusion_counter
from coursekit.widgets.golf import golf as golf
from coursekit.widgets.microscope import microscope as microscope
from coursekit.widgets.occupancy import occupancy_explorer as occupancy_explorer
from coursekit.widgets.overlap import overlap as overlap
from coursekit.widgets.questions import guess as guess
from coursekit.widgets.questions import quiz as quiz
from coursekit.widgets.roofline import roofline_explorer as roofline_explorer
from coursekit.widgets.scheduler import scheduler as scheduler
from coursekit.widgets.table_explorer import ecosystem as ecosystem
from coursekit.widgets.table_explorer import errata as errata
from coursekit.widgets.tile_animator import tile_animator as tile_animator

__version__: str

def __dir__() -> list[str]: ...
