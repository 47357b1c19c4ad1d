"""Variables of a running program: what `SHOW` tells, and the scenes made of it."""

from __future__ import annotations

import re
import shutil

import pytest

import coursekit as ck
from coursekit.widgets.memory_shown import parsed, scenes

pytestmark = pytest.mark.skipif(
    shutil.which("c++") is None, reason="no C++ compiler: apt install g++"
)
STRUCT = """#include "coursekit_boxes.h"
enum Activation { LINEAR, RELU };
struct Network { float w1; Activation last; };
int main() {
    Network nn = {0.5f, RELU};
    Network *p = &nn;
    float *null = nullptr;
    float *block = new float[20]();
    block[1] = 1.5f;
    SHOW(nn);
    SHOW(p);
    SHOW(nn.w1);
    SHOW(nn.last);
    SHOW(null);
    SHOW(block);
    SHOW_BLOCK(block, 20);
    delete[] block;
}
"""


def shown(source, *args, sanitize=False):
    return parsed(ck.program(source, sanitize=sanitize).run(*args).boxes)


@pytest.fixture(scope="module")
def boxes():
    return {one.name: one for one in shown(STRUCT)}


@pytest.fixture(scope="module")
def drawn():
    last = scenes(shown("start/boxes.cpp"))[-1]
    return {box["name"]: box for box in last["boxes"]}


def test_values_and_types_are_those_of_the_program(boxes):
    assert (boxes["nn.w1"].type, boxes["nn.w1"].values) == ("float", ("0.5",))
    assert boxes["nn.last"].values == ("1",)
    assert boxes["p"].type == "Network*"


def test_a_pointer_holds_the_address_of_its_target(boxes):
    assert int(boxes["p"].values[0], 16) == boxes["nn"].address
    assert boxes["nn"].address <= boxes["nn.last"].address < boxes["nn"].address + 8


def test_a_struct_shows_its_bytes(boxes):
    assert boxes["nn"].values == ("00 00 00 3f 01 00 00 00",)


def test_a_block_of_the_heap_shows_its_first_elements(boxes):
    block = boxes["*block"]
    assert (block.count, block.size, block.values[:2]) == (20, 80, ("0", "1.5"))


def test_a_long_block_is_cut_in_the_picture():
    box = scenes(shown(STRUCT))[-1]["boxes"]
    (cells,) = [one["cells"] for one in box if one["name"] == "*block"]
    assert (len(cells), cells[-1]) == (8, "...")


def test_null_points_nowhere():
    (box,) = [b for b in scenes(shown(STRUCT))[-1]["boxes"] if b["name"] == "null"]
    assert box["points"] == "points nowhere: it is null"


def test_an_arrow_leads_to_the_element(drawn):
    assert drawn["p"]["points"] == "points to row[2]"
    assert drawn["pp"]["points"] == "points to p"


def test_a_target_is_the_smallest_box_at_the_address():
    last = scenes(shown(STRUCT))[-1]
    (box,) = [one for one in last["boxes"] if one["name"] == "p"]
    assert box["points"] == "points to nn.w1"


def test_a_variable_that_changed_says_what_it_held():
    assert scenes(shown("start/boxes.cpp"))[4]["told"] == (
        "Line 19: weight changed; it holds 2.5 now."
    )


def test_boxes_stand_in_the_order_of_their_addresses():
    for scene in scenes(shown("start/boxes.cpp")):
        places = [int(box["place"], 16) for box in scene["boxes"]]
        assert places == sorted(places)


def test_sanitizers_change_no_value():
    names = [(one.name, one.type) for one in shown("start/boxes.cpp")]
    checked = [(one.name, one.type) for one in shown("start/boxes.cpp", sanitize=True)]
    assert names == checked


def test_repr_has_no_address():
    widget = ck.memory_boxes(ck.program("start/boxes.cpp").run())
    assert repr(widget) == "MemoryBoxes(4 variables, 6 steps)"


def test_picture_has_an_arrow_for_each_pointer():
    widget = ck.memory_boxes(ck.program("start/boxes.cpp").run())
    assert len(re.findall(r'<path d="M[\d.]+ [\d.]+H', widget.static_svg())) == 4


def test_a_run_without_boxes_says_what_to_include():
    with pytest.raises(ck.ArgumentError, match='#include "coursekit_boxes.h"'):
        ck.memory_boxes(ck.program("int main() {}").run())


def test_c_is_refused_by_the_header():
    with pytest.raises(ck.CompileError, match="needs C\\+\\+"):
        ck.program('#include "coursekit_boxes.h"\nint main() {}', name="boxes.c")


def test_a_torn_line_is_left_out():
    assert parsed('{"name":"x","ty') == []
