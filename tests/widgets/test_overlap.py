"""`ck.overlap` without a browser: what it computes, says and stores."""

from __future__ import annotations

import json

import pytest

import coursekit as ck
from coursekit.widgets.overlap import BREADTH

IN_US = KERNEL_US = OUT_US = 160  # of the whole job


def job(**choices):
    """Return a widget on a machine whose launches cost nothing, with these choices."""
    engines = choices.pop("copy_engines", 2)
    widget = ck.overlap(
        ck.Timeline(50, 50, 0, copy_engines=engines), chunks=choices.pop("chunks", 4)
    )
    for name, value in choices.items():
        setattr(widget, name, value)
    return widget


def each_chunk(chunks: int) -> list[int]:
    return [place // 3 % 4 for place in range(3 * chunks)]


def each_stage(chunks: int) -> list[int]:
    return [place % 3 for place in range(3 * chunks)]


def test_one_stream_overlaps_nothing():
    assert job().plan["makespan"] == IN_US + KERNEL_US + OUT_US


@pytest.mark.parametrize("spread", [each_chunk, each_stage])
@pytest.mark.parametrize("chunks", [1, 2, 4])
def test_equal_stages_overlap_but_for_the_first_and_the_last(spread, chunks):
    widget = job(chunks=chunks, placed=spread(chunks))
    assert widget.plan["makespan"] == pytest.approx(IN_US * (chunks + 2) / chunks)


def test_pageable_memory_overlaps_nothing():
    widget = job(placed=each_chunk(4), pinned=False)
    assert widget.plan["makespan"] == IN_US + KERNEL_US + OUT_US


@pytest.mark.parametrize(
    ("order", "makespan"), [("chunk by chunk", 480), (BREADTH, 320)]
)
def test_with_one_copy_engine_the_order_of_issue_matters(order, makespan):
    widget = job(placed=each_chunk(4), order=order, copy_engines=1)
    assert widget.plan["makespan"] == makespan


def test_without_events_a_spread_chunk_is_wrong():
    widget = job(placed=each_stage(4), events=False)
    assert "nothing orders in 0 and kernel 0" in widget.plan["problem"]


def test_with_events_a_spread_chunk_is_right():
    assert job(placed=each_stage(4)).plan["problem"] == ""


def test_each_chunk_in_a_stream_needs_no_events():
    assert job(placed=each_chunk(4), events=False).plan["problem"] == ""


def test_plan_says_what_it_was_made_for():
    widget = job(placed=each_chunk(4), pinned=False)
    assert json.loads(widget.plan["for"]) == [
        4, False, "chunk by chunk", True, each_chunk(4),
    ]  # fmt: skip


def test_plan_waits_until_chunks_and_places_fit():
    widget = job()
    before = widget.plan
    widget.chunks = 2
    assert widget.plan == before


def test_plan_follows_chunks_and_places():
    widget = job()
    widget.chunks, widget.placed = 2, each_chunk(2)
    assert len(widget.plan["bars"]) == 2 * 6  # the host issues six operations


def test_what_is_stored_of_the_largest_is_small():
    widget = job(chunks=8, placed=each_chunk(8), pinned=False)
    bundle = widget._repr_mimebundle_()[0]
    assert len(bundle["text/html"] + bundle["text/plain"]) < 30_000


@pytest.mark.parametrize(
    "words", ["4 chunks in 1 stream", "a model, not a measurement"]
)
def test_words_tell(words):
    assert words in repr(job())


def test_a_picture_that_is_wrong_says_so():
    assert "nothing orders" in job(placed=each_stage(4), events=False).static_svg()


@pytest.mark.parametrize("chunks", [0, 9])
def test_number_of_chunks_is_limited(chunks):
    with pytest.raises(ck.ArgumentError, match=f"chunks={chunks}"):
        job(chunks=chunks)
