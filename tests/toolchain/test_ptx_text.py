"""PTX of other compilers: its target, files, lines."""

from __future__ import annotations

import pytest

from coursekit.toolchain import ptx_text

INLINE = """\
	.loc	1 8 9
	// begin inline asm
	.loc	1 8 9
	mov.u32 %r1, 0x0;
	.loc	1 9 9
	ld.global.b32 { %r1 }, [ %rd1 + 0 ];

	// end inline asm
	.loc	1 9 32
"""
BARE = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry f(.param .u64 f_param_0) {
  .reg .b32 %r<3>;
  mov.u32 %r1, %tid.x; // index
  @%p1 bra $done;
  call.uni (retval0),
    other, (param0);
$done:
  ret;
}
"""


@pytest.mark.parametrize(
    ("line", "target"),
    [(".target sm_90a", "compute_90a"), (".target sm_80, debug", "compute_80")],
)
def test_target_is_that_of_the_ptx(line, target):
    assert str(ptx_text.target_of(f".version 8.0\n{line}\n")) == target


def test_files_may_have_a_folder_apart():
    text = '.file 1 "/here/a.py"\n.file 2 "/there/x" "b \\303\\266.py"\n'
    assert ptx_text.files(text) == ["/here/a.py", "/there/x/b ö.py"]


def test_files_are_renamed_where_they_stand():
    text = '.file 1 "/here/a.py"\n.file 2 "/there" "b.py"\n'
    renamed = ptx_text.with_files(text, lambda path: path.rpartition("/")[2] + "ö")
    assert renamed == '.file 1 "a.py\\303\\266"\n.file 2 "b.py\\303\\266"\n'


def test_inline_assembly_stays_on_the_line_of_its_statement():
    lines = ptx_text.without_lines_of_inline_assembly(INLINE)
    assert [line.split()[2] for line in lines.split("\n") if ".loc" in line] == [
        "8",
        "9",
    ]


def test_instructions_get_their_own_lines():
    lines = ptx_text.with_own_lines(BARE, "f.ptx").splitlines()
    told = [lines[i + 1].strip() for i, line in enumerate(lines) if line[:4] == ".loc"]
    assert told == [
        "mov.u32 %r1, %tid.x; // index",
        "@%p1 bra $done;",
        "call.uni (retval0),",
        "ret;",
    ]


def test_own_lines_are_numbered_as_in_the_text():
    text = ptx_text.with_own_lines(BARE, "f.ptx")
    assert ".loc 1 6 1\n  mov.u32" in text
    assert '.file 1 "f.ptx"' in text


def test_first_line_of_an_entry():
    text = ".entry f() {\n.loc 1 7 0\nret;\n}\n.entry g() {\n.loc 1 9 0\nret;\n}"
    assert [ptx_text.first_line(text, name) for name in "fgh"] == [7, 9, 0]
