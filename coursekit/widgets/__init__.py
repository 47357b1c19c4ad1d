"""Pictures to play with, and questions to answer before the answer is shown.

Each widget is also a text and a static picture, so that a notebook which is stored,
exported or not trusted still shows what it is about. `Question` is what a quiz is
made of; `GridBlock` shows which thread handles which element.
"""

from coursekit.widgets.grid_block import GridBlock
from coursekit.widgets.grid_map import GridMap
from coursekit.widgets.question import Question
from coursekit.widgets.questions import Guess, Quiz, guess, quiz

__all__ = ["GridBlock", "GridMap", "Guess", "Question", "Quiz", "guess", "quiz"]
