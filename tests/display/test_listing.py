"""Facts about listings: what they say, and how readable that is."""

import re
from html.parser import HTMLParser
from itertools import product

import pytest
from contrast import contrast

from coursekit.display.listing import (
    GROUND,
    TEXT,
    Card,
    Cell,
    Fold,
    Listing,
    Row,
    aligned,
    highlighted,
    plain,
)


class Text(HTMLParser):
    """The text of some HTML, with the open elements checked for balance."""

    def __init__(self, html):
        super().__init__()
        self.text, self.open, self.skipping = "", [], False
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text += data


@pytest.fixture
def listing():
    html = highlighted("int a = b < c;\nfloat d;")
    rows = (
        Row((Cell(">"), Cell("9")), "int a = b < c;", html[0], "marked"),
        Row((Cell(" "), Cell("10")), "float d;", html[1]),
    )
    return Listing("a&b.cu", "text", rows, (Fold("Title <1>", rows[1:]),))


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("text", "ground"), list(product(TEXT, GROUND)))
def test_every_text_has_aa_contrast_on_every_ground(theme, text, ground):
    assert contrast(getattr(TEXT[text], theme), getattr(GROUND[ground], theme)) >= 4.5


def test_highlighted_lines_hold_the_text_of_the_source():
    source = "/* a\n\n b */ int c = '<';\n"
    assert [Text(line).text for line in highlighted(source)] == source.split("\n")


def test_highlighting_closes_its_elements_on_each_line():
    assert all(Text(line).open == [] for line in highlighted("/* a\n b */ int c;"))


def test_cells_of_a_column_are_equally_wide(listing):
    assert aligned(listing.rows) == [[">", " 9"], [" ", "10"]]


def test_plain_rows_begin_with_their_cells(listing):
    assert plain(listing.rows) == [">  9 int a = b < c;", "  10 float d;"]


def test_no_rows_are_no_lines():
    assert plain(()) == []


def test_html_holds_caption_title_and_code_as_text(listing):
    assert Text(listing._repr_html_()).text == (
        "a&b.cuTitle <1>  10 float d;\n>  9 int a = b < c;\n  10 float d;\n"
    )


def test_html_closes_every_element(listing):
    assert Text(listing._repr_html_()).open == []


def test_everything_before_the_code_is_left_out_of_copies(listing):
    row = listing._repr_html_().rpartition("<pre")[2]
    gutter = re.findall(r"<span[^>]*user-select:none[^>]*>([^<]*)</span>", row)
    assert gutter == ["&gt; ", " 9 ", "  ", "10 "]


def test_untrusted_notebooks_keep_readable_colours_without_the_style_block(listing):
    html = re.sub("<style>.*?</style>", "", listing._repr_html_())
    assert (
        f"background-color:{GROUND['panel'].light};color:{TEXT['plain'].light}" in html
    )


def test_the_code_can_be_reached_and_scrolled_by_keyboard(listing):
    html = listing._repr_html_()
    assert (
        '<pre class="ck-plain" tabindex="0" role="region" aria-label="a&amp;b.cu"'
        in html
    )


@pytest.mark.parametrize(("kind", "element"), [("added", "ins"), ("removed", "del")])
def test_changes_are_marked_by_elements_not_by_colour_alone(kind, element):
    row = Row((Cell("1"),), "a", "a", kind)
    assert f"<{element} " in Listing("c", "t", (row,))._repr_html_()


def test_a_row_may_have_further_columns():
    rows = [Row((Cell("7"), Cell(hits, "plain")), "a", "a") for hits in ("1,024", "3")]
    assert plain(rows) == ["7 1,024 a", "7     3 a"]


def test_html_is_the_same_each_time(listing):
    assert listing._repr_html_() == listing._repr_html_()


def test_a_card_is_one_line_of_text():
    assert repr(Card("As expected", "it broke")) == "As expected: it broke"


def test_a_card_of_several_lines_begins_below_its_title():
    assert repr(Card("Compiled", "\n  a\n  b")) == "Compiled:\n  a\n  b"


def test_a_card_escapes_its_text():
    assert Text(Card("a<b", "c<d>")._repr_html_()).text == "a<bc<d>"
