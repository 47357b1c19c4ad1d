"""The Kernel Microscope without a browser: what its page knows, what is stored."""

from __future__ import annotations

import base64
import doctest
import json
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from traced_kernels import SOURCE, kernel, row_sums

import coursekit as ck
from coursekit.widgets import Microscope, microscope_values
from coursekit.widgets.microscope_picture import unpacked
from coursekit.widgets.microscope_values import MOST_BYTES, packed, register

COALESCED = SOURCE.replace("a[i * stride + k]", "a[k * 64 + i]")
GATHER = """
__global__ void gather(float* o, const float* a, const int* index, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float s = a[i];
  #pragma unroll 1
  for (int j = 0; j < n; ++j) {
    float v = a[index[(i * 37 + j * 11) % 4096]];
    if (v > 0.5f) s = s * v + 1.25f; else s -= v * 0.7f;
  }
  o[i] = s;
}
"""


@pytest.fixture(scope="module")
def widget():
    return ck.microscope(*row_sums())


def page(widget, version=-1):
    return json.loads(widget.views[version])


def picture(widget):
    data = re.search(r'base64,([^"]+)"', widget.static_html())[1]
    root = ElementTree.fromstring(base64.b64decode(data))
    return ["".join(node.itertext()) for node in root.iter() if "text" in node.tag]


def largest():
    random = np.random.default_rng(0)
    values = random.random(4096, dtype=np.float32)
    index = random.integers(0, 4096, 4096).astype(np.int32)
    return kernel(GATHER, "gather"), 8, 256, (np.zeros_like(values), values, index, 400)


def test_examples_of_the_documentation_hold():
    assert doctest.testmod(microscope_values).failed == 0


# ---------------------------------------------------------------- what it shows


def test_lines_are_heated_by_the_counts_of_the_whole_launch(widget):
    assert page(widget)["heats"]["global sectors"] == {"8": 448, "11": 5}


def test_lines_are_heated_by_the_branches_at_which_a_warp_parts():
    launch, grid, block, arguments = row_sums()
    state = page(ck.microscope(launch, grid, block, arguments))
    assert state["heats"]["divergent branches"] == {"11": 1}


def test_lines_are_numbered_as_in_the_source(widget):
    state = page(widget)
    text = "".join(part for _, part in state["code"][8 - state["first"]])
    assert text == "        s += a[i * stride + k];"


def test_predictions_are_asked_for_each_line_that_reaches_memory(widget):
    assert page(widget)["rates"] == {
        "8": [32.0, "sectors"],
        "9": [32.0, "wavefronts"],
        "11": [2.5, "sectors"],
    }


def test_dearest_access_is_shown_first(widget):
    assert widget.looks[0][0][widget.step].line == 8


def test_heat_chooses_the_access_that_is_shown_first():
    widget = ck.microscope(*row_sums(), heat="bank conflicts")
    assert widget.looks[0][0][widget.step].line == 9


def test_unknown_heat_is_refused():
    with pytest.raises(ck.ArgumentError, match="global sectors, shared wavefronts"):
        ck.microscope(*row_sums(), heat="warmth")


def test_arguments_are_left_unchanged():
    launch, grid, block, arguments = row_sums()
    ck.microscope(launch, grid, block, arguments)
    assert not arguments[0].any()


def test_nothing_is_printed(capsys):
    source = '__global__ void k(int* a) { printf("%d", a[0]); }'
    ck.microscope(ck.compile(source).k, 1, 32, (np.zeros(1, np.int32),))
    assert capsys.readouterr().out == ""


def test_kernel_that_fails_is_shown_with_its_error():
    launch, grid, block, (out, values, n, stride) = row_sums()
    widget = ck.microscope(launch, grid, block, (out, values[:33], n, stride))
    assert "reads a[2112], but a has 2112 elements" in page(widget)["error"]
    assert page(widget)["scope"] == "this warp"


# ---------------------------------------------------------------- before and after


@pytest.fixture(scope="module")
def both(widget):
    return ck.microscope(*row_sums(COALESCED), before=widget)


def test_both_versions_are_shown_and_the_later_first(both):
    assert (both.labels, both.version) == (["before", "after"], 1)


def test_lines_of_both_versions_are_paired(both):
    assert page(both, 0)["pairs"]["8"] == 8


def test_text_compares_the_versions(both):
    assert "Before: 453 global sectors" in repr(both)
    assert "After: 61 global sectors" in repr(both)


def test_earlier_version_may_be_a_kernel():
    launch, grid, block, arguments = row_sums(COALESCED)
    before = row_sums()[0]
    widget = ck.microscope(launch, grid, block, arguments, before=before)
    assert page(widget, 0)["heats"]["global sectors"]["8"] == 448


def test_earlier_version_that_is_neither_is_refused():
    with pytest.raises(ck.ArgumentError, match="before=int"):
        ck.microscope(*row_sums(), before=3)


# ---------------------------------------------------------------- edited


@pytest.fixture
def edited():
    """Return a microscope whose reader has made the reads coalesced."""
    widget = ck.microscope(*row_sums(), predict=True)
    widget.predicted = {"8": 4}
    text = widget.text.replace("a[i * stride + k]", "a[k * 64 + i]")
    widget.edited = {"text": text, "turn": 1}
    return widget


def test_definition_of_the_kernel_can_be_edited(widget):
    assert widget.text.startswith("__global__ void row_sums(")
    assert widget.text.endswith("[0];\n}")


def test_edited_kernel_is_shown_beside_the_first_version(edited):
    assert (edited.labels, edited.version) == (["before", "after"], 1)
    assert "Before: 453 global sectors" in repr(reveal(edited))
    assert "After: 61 global sectors" in repr(reveal(edited))


def reveal(widget):
    widget.predicting = False
    return widget


def test_edited_kernel_keeps_the_line_numbers_of_the_source(edited):
    assert page(edited)["heats"]["global sectors"]["8"] == 56


def test_edit_asks_for_new_predictions(edited):
    assert edited.predicted == {}


def test_answer_names_the_turn_that_is_done(edited):
    assert edited.answered == {"turn": 1, "trouble": ""}


def test_second_edit_is_compared_with_the_first_version(edited):
    edited.edited = {"text": edited.text, "turn": 2}
    assert "Before: 453 global sectors" in repr(reveal(edited))
    assert "After: 453 global sectors" in repr(reveal(edited))


def test_edit_of_a_later_version_leaves_the_earlier_one(widget):
    both = ck.microscope(*row_sums(COALESCED), before=widget)
    both.edited = {"text": both.text.replace("s += ", "s -= "), "turn": 1}
    assert "Before: 453 global sectors" in repr(both)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [("s += a", "s += b", "b"), ("row_sums", "sums", "no kernel"),
     ("int stride", "float* stride", "expression must have")],
)  # fmt: skip
def test_edit_that_does_not_run_is_told_and_changes_nothing(old, new, said):
    widget = ck.microscope(*row_sums())
    before = list(widget.views)
    widget.edited = {"text": widget.text.replace(old, new, 1), "turn": 1}
    assert said in widget.answered["trouble"]
    assert widget.views == before


def test_edit_that_leaves_the_array_is_shown_with_its_error():
    widget = ck.microscope(*row_sums())
    text = widget.text.replace("a[i * stride", "a[100 * i * stride")
    widget.edited = {"text": text, "turn": 1}
    assert "but a has 4096 elements" in page(widget)["error"]


def test_kernel_that_a_macro_writes_is_edited_as_a_whole_source():
    source = "#define NAME written\n#define HEAD __global__ void NAME\n"
    source += "HEAD(int* a) { a[threadIdx.x] = 1; }\n"
    launch = ck.compile(source).written
    assert ck.microscope(launch, 1, 32, (np.zeros(32, np.int32),)).text == source


# ---------------------------------------------------------------- size


@pytest.mark.parametrize("versions", [1, 2])
def test_largest_trace_needs_at_most_200_kb(versions):
    before = ck.microscope(*largest()) if versions == 2 else None
    widget = ck.microscope(*largest(), before=before)
    assert widget.nbytes <= MOST_BYTES


def test_largest_trace_keeps_its_2000_steps_and_its_addresses():
    state = page(ck.microscope(*largest()))
    assert len(state["lines"]) == 2000
    assert all(
        access["at"] is not None for a in state["accesses"].values() for access in a
    )


def test_stored_picture_is_small():
    assert len(ck.microscope(*largest()).static_html()) < 50_000


@pytest.mark.parametrize("mask", [1, 0xFFFFFFFF, 0x0F0F, 0x80000001])
@pytest.mark.parametrize(
    "values", [[3] * 32, list(range(5, 37)), [n * n for n in range(32)]]
)
def test_packed_values_come_back(values, mask):
    lanes = [lane for lane in range(32) if mask >> lane & 1]
    back = unpacked(packed(values, mask), mask)
    assert [back[lane] for lane in lanes] == [values[lane] for lane in lanes]


@pytest.mark.parametrize(
    ("value", "written"),
    [(float("nan"), "nan"), (float("-inf"), "-inf"), (1 << 60, str(1 << 60)),
     (0.123456789, 0.12346), (True, 1)],
)  # fmt: skip
def test_values_that_json_lacks_are_written_as_text(value, written):
    assert packed([value] * 32, 1) == written


def test_address_is_written_as_bytes_behind_its_array():
    base = 1 << 40
    addresses = tuple(base + 4 * lane for lane in range(32))
    assert register(addresses, 0xFFFFFFFF, {base: "a"}) == ["at", "a", ["step", 0, 4]]


# ---------------------------------------------------------------- what is stored


def test_stored_picture_tells_the_dearest_access(widget):
    assert "Dearest access: 32 lanes read a on line 8: 32 sectors" in picture(widget)


def test_stored_picture_shows_the_source(widget):
    assert "        s += a[i * stride + k];" in picture(widget)


def test_stored_picture_of_a_prediction_keeps_the_counts_to_itself():
    widget = ck.microscope(*row_sums(), predict=True)
    said = " ".join(picture(widget)) + repr(widget)
    assert not re.search(r"448|453|sectors", said)


def test_stored_picture_has_an_alternative_text(widget):
    alt = re.search(r'<img alt="([^"]+)"', widget.static_html())[1]
    assert alt.startswith("row_sums, warp 0 of block 0, 76 steps.")


def test_microscope_is_a_widget_of_the_package(widget):
    assert isinstance(widget, Microscope)
