"""A model of a GPU's copy and compute engines: it schedules streams of operations.

It is a model, not a measurement: it knows rates and durations that it is given, and
the rules by which CUDA orders work. It needs no GPU and gives the same answer
everywhere. The rules, each with its source, are in the docstring of `Timeline`.
"""

from coursekit.lessons.timeline.line import Event, Stream, Timeline
from coursekit.lessons.timeline.schedule import Conflict, Operation, Schedule

__all__ = ["Conflict", "Event", "Operation", "Schedule", "Stream", "Timeline"]
