"""Interactive pictures, and questions to answer before the answer is shown.

Each widget is also a text and a static picture, so that a notebook which is stored,
exported or not trusted still shows what it is about. `Question` is what a quiz is
made of; `GridBlock` shows which thread handles which element; `Microscope` shows a
kernel line by line and lane by lane, and `CompiledView` what the compiler has made
of it; with `Scheduler` the reader decides which warp runs next, with `Overlap` which
stream copies and kernels go through; a `GolfCard` counts a kernel against the ideal; a
`LearningView` follows a training, and a `DigitPad` reads the digit that is drawn in it.
`MemoryBoxes` draws the variables and pointers of a program that ran, a `GraphStepper`
shows how gradients flow back, and a `TableExplorer` is a table to search. Instruments
with sliders and switches are `OccupancyExplorer`, `Residency`, `FusionCounter`,
`RooflineExplorer`, `ChipExplorer`, `NumberExplorer` for the bits of a number,
`LayoutFlipper` for matrices in memory and, for matrix products, `TileAnimator`.
"""

from coursekit.widgets.chip_explorer import ChipExplorer
from coursekit.widgets.compiled import CompiledView
from coursekit.widgets.draw_digit import DigitPad
from coursekit.widgets.fusion import FusionCounter
from coursekit.widgets.golf import GolfCard
from coursekit.widgets.graph_stepper import GraphStepper
from coursekit.widgets.grid_block import GridBlock
from coursekit.widgets.grid_map import GridMap
from coursekit.widgets.layout_flipper import LayoutFlipper
from coursekit.widgets.learning import LearningView
from coursekit.widgets.memory_boxes import MemoryBoxes
from coursekit.widgets.microscope import Microscope
from coursekit.widgets.number import NumberExplorer
from coursekit.widgets.occupancy import OccupancyExplorer
from coursekit.widgets.overlap import Overlap
from coursekit.widgets.questions import GuessWidget, Question, QuizWidget, guess, quiz
from coursekit.widgets.residency import Residency
from coursekit.widgets.roofline import RooflineExplorer
from coursekit.widgets.scheduler import Scheduler
from coursekit.widgets.table_explorer import TableExplorer
from coursekit.widgets.tile_animator import TileAnimator

__all__ = [
    "CompiledView",
    "ChipExplorer",
    "DigitPad",
    "FusionCounter",
    "GolfCard",
    "GraphStepper",
    "GridBlock",
    "GridMap",
    "GuessWidget",
    "LayoutFlipper",
    "LearningView",
    "MemoryBoxes",
    "Microscope",
    "NumberExplorer",
    "OccupancyExplorer",
    "Overlap",
    "Question",
    "QuizWidget",
    "Residency",
    "RooflineExplorer",
    "Scheduler",
    "TableExplorer",
    "TileAnimator",
    "guess",
    "quiz",
]
