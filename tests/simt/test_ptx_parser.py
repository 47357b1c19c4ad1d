"""The PTX parser on PTX by hand; test_ptx_parser_on_nvrtc.py feeds it NVRTC's."""

import doctest
import random

import pytest

from coursekit.errors import CourseError, UnsupportedError
from coursekit.simt.ptx import ir, lexer, parser
from coursekit.simt.ptx.parser import parse

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"


def module(text: str) -> ir.Module:
    """Parse module-level text behind the usual head of three lines."""
    return parse(HEAD + text)


def kernel(body: str) -> ir.Function:
    """Parse the body of a kernel `k` with parameters `out` and `n`."""
    text = f".entry k(.param .u64 out, .param .u32 n)\n{{\n{body}\n}}"
    return module(text).functions["k"]


def instruction(body: str) -> ir.Instruction:
    """Parse a body and return its last instruction."""
    return kernel(REGISTERS + body).instructions[-1]


def operands(body: str) -> tuple:
    """Parse a body and return the operands of its last instruction."""
    return instruction(body).operands


def variable(text: str) -> ir.Variable:
    """Parse one variable of a module."""
    (found,) = module(text).variables.values()
    return found


REGISTERS = (
    ".reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>;"
    ".shared .align 16 .b8 tile[64];"
)


# --- the module


@pytest.mark.parametrize("checked", [parser, lexer], ids=["ptx", "lexer"])
def test_examples_in_the_docstrings_are_right(checked):
    assert doctest.testmod(checked).failed == 0


def test_version_is_kept():
    assert module("").version == "9.0"


@pytest.mark.parametrize(
    ("directive", "target"),
    [("sm_90a", "sm_90a"), ("sm_120f", "sm_120f"), ("sm_80, debug", "sm_80")],
)
def test_target_is_the_architecture_without_options(directive, target):
    assert parse(f".version 9.0\n.target {directive}\n").target == target


def test_addresses_of_32_bits_are_refused():
    with pytest.raises(UnsupportedError, match="64 bits"):
        parse(".version 9.0\n.target sm_90\n.address_size 32\n")


def test_text_that_does_not_begin_with_version_is_refused():
    with pytest.raises(UnsupportedError, match="not PTX"):
        parse("int main() { return 0; }")


@pytest.mark.parametrize(
    ("directive", "name"),
    [
        ('.file 1 "a.cu"', "a.cu"),
        ('.file 1 "dir;with//odd/*names/a.cu"', "dir;with//odd/*names/a.cu"),
        ('.file 1 "a.cu", 1700000000, 4321', "a.cu"),
        ('.file 1 "/home/me" "a.py"', "/home/me/a.py"),
    ],
)
def test_file_directive_names_a_source_file(directive, name):
    assert module(directive).files == {1: name}


def test_debug_sections_are_skipped():
    section = ".section .debug_str\n{\n$L__info_string0:\n.b8 95,90\n.b8 0 // end\n}"
    assert module(section + "\n.section .debug_macinfo { }").functions == {}


def test_old_dwarf_lines_are_skipped():
    assert module('@@DWARF .byte "x";\n.global .u32 a;').variables.keys() == {"a"}


def test_pragma_of_a_module_is_skipped():
    assert module('.pragma "enable_smem_spilling";').variables == {}


@pytest.mark.parametrize("comment", ["// } ;", "/* } ; \n */", '// "unclosed'])
def test_comments_are_ignored(comment):
    assert len(kernel(f"bar.sync {comment}\n 0;\n ret;").instructions) == 2


# --- variables


@pytest.mark.parametrize("space", ["global", "const", "shared", "local"])
def test_variable_knows_its_space(space):
    assert variable(f".{space} .align 4 .b8 a[8];").space == space


@pytest.mark.parametrize(
    ("declaration", "type_", "align", "nbytes"),
    [
        (".global .u32 a;", "u32", 4, 4),
        (".global .align 16 .f64 a;", "f64", 16, 8),
        (".global .align 8 .b8 a[24];", "b8", 8, 24),
        (".global .u16 a[3][5];", "u16", 2, 30),
        (".global .b8 a[0x10];", "b8", 1, 16),
        (".global .v4 .f32 a[2];", "f32", 16, 32),
        (".global .attribute(.managed) .align 4 .u32 a;", "u32", 4, 4),
        (".global .attribute(.unified(1,2)) .u32 a;", "u32", 4, 4),
        (".visible .weak .global .u8 a;", "u8", 1, 1),
        (".common .global .u32 a;", "u32", 4, 4),
        (".global.align 2.b8 a [ 6 ];", "b8", 2, 6),
    ],
)
def test_variable_knows_type_alignment_and_size(declaration, type_, align, nbytes):
    found = variable(declaration)
    assert (found.type, found.align, found.nbytes) == (type_, align, nbytes)


def test_dynamic_shared_memory_is_external_and_empty():
    found = variable(".extern .shared .align 16 .b8 dyn[];")
    assert (found.external, found.nbytes, found.align) == (True, 0, 16)


def test_declaration_may_hold_several_variables():
    assert module(".shared .b32 a, b[4], c;").variables.keys() == {"a", "b", "c"}


def test_definition_replaces_an_extern_declaration():
    assert not variable(".extern .global .u32 a; .global .u32 a = 1;").external


def test_extern_declaration_does_not_replace_a_definition():
    assert not variable(".global .u32 a = 1; .extern .global .u32 a;").external


def test_variable_without_initialiser_has_no_bytes():
    assert variable(".global .u32 a;").initial is None


@pytest.mark.parametrize(
    ("declaration", "initial"),
    [
        (".b8 a[3] = {1, 2, 255}", "01 02 ff"),
        (".b8 a[4] = {1,\n2}", "01 02 00 00"),
        (".b8 a[2] = {}", "00 00"),
        (".s8 a[2] = {-1, 0x7F}", "ff 7f"),
        (".b8 a[] = {7, 8, 9}", "07 08 09"),
        (".u16 a[2] = {1, 65535}", "01 00 ff ff"),
        (".u16 a[2][2] = {{1}, {2, 3}}", "01 00 00 00 02 00 03 00"),
        (".u16 a[][2] = {{1, 2}, {3, 4}}", "01 00 02 00 03 00 04 00"),
        (".v2 .u8 a[2] = {{1, 2}, {3, 4}}", "01 02 03 04"),
        (".u32 a = 5", "05 00 00 00"),
        (".s32 a = -2", "fe ff ff ff"),
        (".u64 a = 18446744073709551615", "ff " * 8),
        (".f32 a = 0f3F800000", "00 00 80 3f"),
        (".f32 a = 1.0", "00 00 80 3f"),
        (".f32 a = 1e300", "00 00 80 7f"),
        (".f64 a[1] = {0dBFF0000000000000}", "00 00 00 00 00 00 f0 bf"),
        (".b32 a = 0f3F800000", "00 00 80 3f"),
    ],
)
def test_initialiser_gives_the_bytes(declaration, initial):
    assert variable(f".global {declaration};").initial == bytes.fromhex(initial)


def test_long_initialiser_of_bytes_is_read_in_full():
    values = bytes(i * 7 % 256 for i in range(200_000))
    text = ", ".join(map(str, values))
    assert variable(f".global .b8 a[200000] = {{{text}}};").initial == values


@pytest.mark.parametrize(
    ("declaration", "relocations"),
    [
        (".u64 a = s", [(0, "s", 0, 8)]),
        (".u64 a = generic(s)", [(0, "s", 0, 8)]),
        (".u64 a = generic(s)+8", [(0, "s", 8, 8)]),
        (".u64 a = s+4+4", [(0, "s", 8, 8)]),
        (".u64 a[3] = {0, f, generic(s)}", [(8, "f", 0, 8), (16, "s", 0, 8)]),
        (".u32 a = s", [(0, "s", 0, 4)]),
        (".u8 a[3] = {9, 0xFF(s), 0xFF00(s)}", [(1, "s", 0, 2)]),
        (".u8 a[2] = {0xFF(generic(s)+4), 0xFF00(generic(s)+4)}", [(0, "s", 4, 2)]),
        (".u8 a[2] = {0xFF(s), 0xFF(s)}", [(0, "s", 0, 1), (1, "s", 0, 1)]),
    ],
)
def test_address_in_an_initialiser_becomes_a_relocation(declaration, relocations):
    found = module(f".func f; .global .u32 s; .global {declaration};").variables["a"]
    assert list(found.relocations) == relocations


def test_bytes_beside_an_address_are_kept():
    found = module(".global .u32 s; .global .u64 a[2] = {7, s};").variables["a"]
    assert found.initial == (7).to_bytes(8, "little") + bytes(8)


@pytest.mark.parametrize(
    "declaration",
    [
        ".global .b8 a[2] = {1, 2, 3};",
        ".global .b8 a[2] = {1, 2, };",
        ".global .u32 a[2] = {{1}, {2}};",
        ".global .u16 a[2][2] = {1, 2};",
        ".global .u32 a[2] = 1;",
        ".global .u32 a = 1.5;",
        ".global .f32 a = 1;",
        '.global .b8 a[3] = "ab";',
        ".global .u64 a = missing;",
        ".global .u8 a[2] = {0xFF00(a), 0xFF(a)};",
        ".global .u32 a[2] = {0xFF(a), 0xFF00(a)};",
        ".global .u32 a = 0xFF(a;",
        ".global .u32 a = 1; .global .u32 a = 2;",
        ".global .b8 a[];",
        ".global .b8 a[x];",
        ".global .b8 a[2][];",
        ".global .b8 a[08];",
        ".global .b8 a" + "[1]" * 20 + ";",
        ".global .b8 a[9999999999999999999];",
        ".global .b8 a[99999999999] = {1};",
        ".global .align 3 .b8 a;",
        ".global a;",
        ".global .u32 4;",
        ".global .u32 7 .u32 a;",
        ".global .texref t;",
        ".tex .u32 t;",
    ],
)
def test_variable_that_is_not_understood_is_refused(declaration):
    with pytest.raises(UnsupportedError, match="PTX line 4"):
        module(declaration)


# --- functions


def test_entry_is_a_kernel():
    assert module(".visible .entry k() { ret; }").functions["k"].is_kernel


def test_func_is_not_a_kernel():
    assert not module(".weak .func f() { ret; }").functions["f"].is_kernel


def test_entry_needs_no_parentheses():
    assert module(".entry k { ret; }").functions["k"].parameters == []


@pytest.mark.parametrize(
    ("parameter", "type_", "align", "nbytes"),
    [
        (".param .u32 x", "u32", 4, 4),
        (".param .u64 .ptr .align 1 x", "u64", 8, 8),
        (".param .u64 .ptr .global .align 16 x", "u64", 8, 8),
        (".param .align 8 .b8 x[24]", "b8", 8, 24),
        (".param .align 64 .b8 x[128]", "b8", 64, 128),
        (".param .f64 x", "f64", 8, 8),
        (".param .align 8 .b8 x[]", "b8", 8, 0),
    ],
)
def test_parameter_knows_type_alignment_and_size(parameter, type_, align, nbytes):
    (found,) = module(f".entry k({parameter}) {{ ret; }}").functions["k"].parameters
    assert (found.type, found.align, found.nbytes) == (type_, align, nbytes)


def test_parameters_keep_their_order():
    names = [parameter.name for parameter in kernel("ret;").parameters]
    assert names == ["out", "n"]


def test_function_has_results():
    text = ".func (.param .align 8 .b8 r[16]) f(.param .b32 x) { ret; }"
    (result,) = module(text).functions["f"].results
    assert (result.name, result.nbytes) == ("r", 16)


def test_prototype_is_external():
    text = ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);"
    assert module(text).functions["vprintf"].external


def test_definition_replaces_a_prototype():
    assert not module(".func f(); .func f() { ret; }").functions["f"].external


def test_prototype_does_not_replace_a_definition():
    assert not module(".func f() { ret; } .func f();").functions["f"].external


@pytest.mark.parametrize(
    ("directive", "name", "values"),
    [
        (".maxntid 256, 1, 1", "maxntid", (256, 1, 1)),
        (".maxntid 256", "maxntid", (256,)),
        (".reqntid 128", "reqntid", (128,)),
        (".minnctapersm 2", "minnctapersm", (2,)),
        (".maxnreg 64", "maxnreg", (64,)),
        (".reqnctapercluster 2, 1, 1", "reqnctapercluster", (2, 1, 1)),
        (".maxclusterrank 8", "maxclusterrank", (8,)),
        (".explicitcluster", "explicitcluster", ()),
        (".blocksareclusters", "blocksareclusters", ()),
        (".noreturn", "noreturn", ()),
    ],
)
def test_directive_of_a_function_is_kept(directive, name, values):
    function = module(f".entry k() {directive}\n.maxnreg 64 {{ ret; }}").functions["k"]
    assert function.directives[name] == values


def test_noreturn_stands_before_the_semicolon_of_a_prototype():
    function = module(".extern .func f (.param .b32 x) .noreturn ;").functions["f"]
    assert function.external


@pytest.mark.parametrize(
    "text",
    [
        ".entry k() { ret; } .entry k() { ret; }",
        ".entry k() { ret;",
        ".entry k()",
        ".entry k() .unheardof { ret; }",
        ".entry k(.param .u32 a, .param .u32 a) { ret; }",
        ".entry k(.reg .u32 a) { ret; }",
        ".entry k(.param .u32) { ret; }",
        ".entry k() { ret; } }",
        ".alias f, g;",
    ],
)
def test_function_that_is_not_understood_is_refused(text):
    with pytest.raises(UnsupportedError, match="PTX line 4"):
        module(text)


# --- registers and scopes


def test_registers_are_numbered_by_first_use():
    function = kernel(".reg .b32 %r<99>; mov.b32 %r7, 1; mov.b32 %r3, %r7;")
    assert [(r.name, r.index) for r in function.registers] == [("%r7", 0), ("%r3", 1)]


def test_huge_range_of_registers_costs_nothing():
    assert kernel(".reg .b32 %r<999999999>; mov.b32 %r5, 1;").registers[0].name == "%r5"


@pytest.mark.parametrize(
    ("declaration", "name", "type_"),
    [
        (".reg .f32 \t%f<4>;", "%f3", "f32"),
        (".reg .pred p, q;", "q", "pred"),
        (".reg .b64 %SP;", "%SP", "b64"),
        (".reg .b32 a<2>, b;", "a1", "b32"),
        (".reg .b32 a<2>, b;", "b", "b32"),
        (".reg.b16 h;", "h", "b16"),
        (".reg .b128 %rq<2>;", "%rq1", "b128"),
    ],
)
def test_register_has_the_declared_type(declaration, name, type_):
    function = kernel(f"{declaration} mov.b32 {name}, 0;")
    assert function.instructions[0].operands[0] == ir.Register(name, 0, type_)


@pytest.mark.parametrize(
    "body",
    [
        ".reg .b32 %r<5>; mov.b32 %r5, 0;",
        ".reg .b32 %r<5>; mov.b32 %r01, 0;",
        "mov.b32 %x, 0;",
        "mov.b32 %tid.q, 0;",
        "{ .reg .b32 x; } mov.b32 x, 0;",
        ".reg .b32 %laneid;",
        ".reg .b32 x; .reg .f32 x;",
        ".reg .b33 x;",
        ".reg .b32 x-y;",
        ".reg .b32 f1<3>;",
        ".reg .v2 .f32 x;",
    ],
)
def test_register_that_is_not_declared_properly_is_refused(body):
    with pytest.raises(UnsupportedError, match="PTX line 6"):
        kernel(body)


def test_register_may_stand_beside_a_range_of_its_name():
    """As in Triton's conversions: the range has a0 and a1, and no a."""
    body = ".reg .b32 a; .reg .f16 a<2>; .reg .b32 %r<2>; mov.b32 a, %r1; ret;"
    first = kernel(body + "mov.b32 {a0, a1}, a;").instructions
    types = [each.type for each in first[2].operands[0].elements]
    assert (first[0].operands[0].type, types) == ("b32", ["f16", "f16"])


def test_inner_register_shadows_an_outer_one():
    function = kernel(
        ".reg .b32 x; mov.b32 x, 0; { .reg .f32 x; mov.b32 x, 1; } mov.b32 x, 2;"
    )
    assert [i.operands[0].index for i in function.instructions] == [0, 1, 0]


def test_outer_register_is_visible_until_the_inner_one_is_declared():
    function = kernel(
        ".reg .b32 x; { mov.b32 x, 0; .reg .b32 x; mov.b32 x, 1; } mov.b32 x, 2;"
    )
    assert [i.operands[0].index for i in function.instructions] == [0, 1, 0]


def test_sibling_scopes_have_registers_of_their_own():
    block = "{ .reg .pred p; setp.eq.s32 p, 1, 1; }"
    first, second = kernel(block + block).registers
    assert first != second


def test_register_of_an_outer_scope_is_the_same_object():
    function = kernel(".reg .b32 %r<3>; mov.b32 %r1, 0; {{ mov.b32 %r1, 1; }}")
    assert len(function.registers) == 1


def test_scopes_may_not_nest_without_end():
    with pytest.raises(UnsupportedError, match="nested"):
        kernel("{" * 100 + "}" * 100)


# --- variables of functions


def test_variables_of_a_function_are_its_own():
    function = kernel(".local .align 8 .b8 __local_depot0[24]; .shared .f32 a[16];")
    assert {(v.name, v.space, v.nbytes) for v in function.variables.values()} == {
        ("__local_depot0", "local", 24),
        ("a", "shared", 64),
    }


def test_function_may_declare_dynamic_shared_memory():
    function = kernel(".extern .shared .align 16 .b8 dyn[];")
    assert function.variables["dyn"].external


def test_variables_of_sibling_scopes_get_unique_names():
    function = kernel("{ .param .b64 param0; } { .param .b32 param0; }")
    assert list(function.variables) == ["param0", "param0@1"]


def test_operand_means_the_variable_of_its_scope():
    function = kernel(
        "{ .param .b32 a; st.param.b32 [a+0], 1; } { .param .b32 a; st.b32 [a], 2; }"
    )
    bases = [i.operands[0].base.name for i in function.instructions]
    assert bases == ["a", "a@1"]


def test_variable_named_like_a_parameter_gets_another_name():
    assert "n@1" in kernel("{ .param .b32 n; }").variables


def test_variable_named_like_one_of_the_module_gets_another_name():
    text = ".global .u32 a; .entry k() { ld.u32 %r1, [a]; { .shared .u32 a; } ret; }"
    function = module(text.replace("{ ld", "{ .reg .u32 %r<2>; ld", 1)).functions["k"]
    assert list(function.variables) == ["a@0"]


# --- instructions


def test_opcode_and_modifiers_are_split_at_dots():
    found = instruction("ld.global.nc.v2.f32 {%f1, %f2}, [%rd1];")
    assert (found.opcode, found.modifiers) == ("ld", ("global", "nc", "v2", "f32"))


@pytest.mark.parametrize(
    ("name", "modifier"),
    [
        ("ld.shared::cta.b32 %r1, [%r2];", "shared::cta"),
        ("ld.global.L2::128B.b32 %r1, [%rd2];", "L2::128B"),
        ("cp.mbarrier::complete_tx::bytes [%r1];", "mbarrier::complete_tx::bytes"),
    ],
)
def test_double_colon_stays_within_a_modifier(name, modifier):
    assert modifier in instruction(name).modifiers


@pytest.mark.parametrize(
    ("text", "negated"),
    [("@%p1 ret;", False), ("@!%p1 ret;", True), ("@ ! %p1 ret;", True)],
)
def test_guard_knows_its_register_and_sign(text, negated):
    guard = instruction(text).guard
    assert (guard.register.name, guard.negated) == ("%p1", negated)


def test_instruction_without_guard_has_none():
    assert instruction("ret;").guard is None


def test_instructions_know_their_index():
    indices = [i.index for i in kernel("ret; {ret;} ret;").instructions]
    assert indices == [0, 1, 2]


def test_text_has_single_blanks():
    found = instruction("@%p1\tbar.sync \n\t %r1 ,  32;")
    assert found.text == "@%p1 bar.sync %r1 , 32;"


def test_several_instructions_may_share_a_line():
    function = kernel("cp.async.commit_group; cp.async.wait_group 0; L: ret;")
    assert [i.opcode for i in function.instructions] == ["cp", "cp", "ret"]


def test_instruction_without_operands_has_an_empty_tuple():
    assert operands("membar.gl;") == ()


@pytest.mark.parametrize(
    ("text", "value", "kind"),
    [
        ("12", 12, "int"),
        ("-12", -12, "int"),
        ("0", 0, "int"),
        ("0x10", 16, "int"),
        ("0xFFFFFFFFU", 0xFFFFFFFF, "int"),
        ("-0x1", -1, "int"),
        ("017", 15, "int"),
        ("0b101", 5, "int"),
        ("7U", 7, "int"),
        ("18446744073709551615", 2**64 - 1, "int"),
        ("5+2", 7, "int"),
        ("WARP_SZ", 32, "int"),
        ("0f3FC00000", 1.5, "f32"),
        ("0F80000000", -0.0, "f32"),
        ("0f7F800000", float("inf"), "f32"),
        ("0d3FF8000000000000", 1.5, "f64"),
        ("1.5", 1.5, "f64"),
        ("-.5", -0.5, "f64"),
        ("1e3", 1000.0, "f64"),
        ("2.", 2.0, "f64"),
    ],
)
def test_constant_has_value_and_kind(text, value, kind):
    assert operands(f"mov.b64 %rd1, {text};")[1] == ir.Immediate(value, kind)


@pytest.mark.parametrize(
    "name",
    [
        "tid.x", "ntid.y", "ctaid.z", "nctaid.x", "laneid", "warpid", "smid",
        "lanemask_lt", "clock", "clock64", "globaltimer", "envreg3", "pm0", "pm3_64",
        "cluster_ctarank", "cluster_nctaid.x", "is_explicit_cluster",
        "dynamic_smem_size", "gridid",
    ],
)  # fmt: skip
def test_special_register_is_known(name):
    assert operands(f"mov.b32 %r1, %{name};")[1] == ir.Special(name)


@pytest.mark.parametrize(
    ("text", "base", "offset"),
    [
        ("[%rd1]", "%rd1", 0),
        ("[%rd1+16]", "%rd1", 16),
        ("[%rd1+-4]", "%rd1", -4),
        ("[%rd1-4]", "%rd1", -4),
        ("[ %rd1 + 0x10 ]", "%rd1", 16),
        ("[tile]", "tile", 0),
        ("[tile+4+4]", "tile", 8),
        ("[out]", "out", 0),
    ],
)
def test_address_has_base_and_offset(text, base, offset):
    address = operands(f"ld.b32 %r1, {text};")[1]
    assert (address.base.name, address.offset) == (base, offset)


def test_address_may_be_a_number():
    address = operands("ld.b32 %r1, [0x100+4];")[1]
    assert address == ir.Address(ir.Immediate(256), 4)


@pytest.mark.parametrize(("text", "offset"), [("tile", 0), ("tile+8", 8)])
def test_symbol_may_have_an_offset(text, offset):
    assert operands(f"mov.u64 %rd1, {text};")[1] == ir.Symbol("tile", offset)


def test_symbol_of_a_function_is_its_address():
    text = ".func f(); .entry k() { .reg .b64 %rd<2>; mov.u64 %rd1, f; }"
    (found,) = module(text).functions["k"].instructions
    assert found.operands[1] == ir.Symbol("f")


def test_vector_holds_registers_constants_and_sinks():
    vector = operands("mov.b64 {%r1, _, 3}, %rd1;")[0]
    assert vector.elements[1:] == (None, ir.Immediate(3))


def test_blanks_in_a_vector_do_not_matter():
    first, second = (
        operands(f"st.v2.f32 [%rd1], {text};")[1]
        for text in ("{ %f1 ,\n%f2 }", "{%f1,%f2}")
    )
    assert first == second


def test_tensor_coordinates_follow_their_address_in_a_tuple():
    found = operands("cp.async.bulk.tensor.2d [%r1], [%rd1, {%r2, 32}], [%r3];")[1]
    address, vector = found
    assert (address.base.name, vector.elements[1]) == ("%rd1", ir.Immediate(32))


@pytest.mark.parametrize("text", ["%p1|%p2", "%p1 | %p2"])
def test_pair_has_two_registers(text):
    pair = operands(f"setp.eq.s32 {text}, 1, 2;")[0]
    assert (pair.first.name, pair.second.name) == ("%p1", "%p2")


@pytest.mark.parametrize(
    ("text", "names"), [("_|%p1", [None, "%p1"]), ("%r1|_", ["%r1", None])]
)
def test_half_of_a_pair_may_be_a_sink(text, names):
    pair = operands(f"elect.sync {text}, -1;")[0]
    assert [half and half.name for half in (pair.first, pair.second)] == names


def test_negated_predicate_is_not_a_register():
    assert operands("setp.eq.and.s32 %p1, 1, 2, !%p2;")[3].register.name == "%p2"


def test_lone_sink_is_none():
    assert operands("mbarrier.arrive.shared::cta.b64 _, [%r1];")[0] is None


@pytest.mark.parametrize(
    "statement",
    [
        "mov.b32 %r1, %r2",
        "mov.b32 %r1, 08;",
        "mov.b32 %r1, 99999999999999999999999;",
        "mov.b32 %r1, 0f3F8;",
        "mov.b32 %r1, 'a';",
        "mov.b32 %r1, ~5;",
        "mov.b32 %r1, nowhere;",
        "mov.b32 %r1, nowhere+4;",
        "mov.b32 %r1, %r2+4;",
        "mov.b32 %r1, ;",
        "mov.b32 %r1, {%r1, {%r2}};",
        "mov.b32 %r1, {%r1, [%r2]};",
        "mov.b32 %r1, {%r1;",
        "mov.b32 {}, %r1;",
        "mov.b32 %p1|%p2|%p3, 0;",
        "mov.b32 %r1, !!%p1;",
        "mov.b32 %r1, !5;",
        "ld.b32 %r1, [%tid.x];",
        "ld.b32 %r1, [%r1+%r2];",
        "ld.b32 %r1, [%r1, %r2];",
        "ld.b32 %r1, tile[1];",
        "@5 ret;",
        "@%p1 ;",
        ".unheardof 5;",
        "Ret;",
    ],
)
def test_statement_that_is_not_understood_is_refused(statement):
    with pytest.raises(UnsupportedError, match="PTX line 6"):
        kernel(REGISTERS + statement)


# --- branches and calls


def test_branch_target_is_a_label():
    assert operands("L: bra.uni L;") == (ir.Label("L"),)


def test_label_is_the_index_of_the_next_instruction():
    assert kernel("bra L; ret; L: ret; E:").labels == {"L": 2, "E": 3}


def test_two_labels_may_stand_at_one_place():
    assert kernel("A: B: ret;").labels == {"A": 0, "B": 0}


def test_label_that_looks_like_an_opcode_is_a_label():
    assert kernel("loop: bra loop;").labels == {"loop": 0}


WAIT = "{ LOOP: @%p1 bra DONE; bra LOOP; DONE: }\n"


def test_labels_of_sibling_scopes_get_unique_names():
    labels = kernel(REGISTERS + WAIT + WAIT).labels
    assert labels == {"LOOP": 0, "DONE": 2, "LOOP@1": 2, "DONE@1": 4}


def test_branch_goes_to_the_label_of_its_scope():
    targets = [i.operands[0].name for i in kernel(REGISTERS + WAIT * 2).instructions]
    assert targets == ["DONE", "LOOP", "DONE@1", "LOOP@1"]


def test_branch_may_leave_its_scope():
    assert operands("{ bra OUT; } OUT:") == (ir.Label("OUT"),)


@pytest.mark.parametrize("body", ["bra L;", "{ L: } bra L;", "L: L: ret;"])
def test_branch_without_one_visible_label_is_refused(body):
    with pytest.raises(UnsupportedError, match="label"):
        kernel(body)


TABLE = """
$L_brx_0: .branchtargets
    A,
    B;
brx.idx %r1, $L_brx_0;
A: ret;
B: ret;
"""


def test_branch_table_lists_its_labels():
    assert kernel(REGISTERS + TABLE).branch_tables == {"$L_brx_0": ("A", "B")}


def test_indexed_branch_names_its_table():
    assert kernel(REGISTERS + TABLE).instructions[0].operands[1].name == "$L_brx_0"


def test_branch_tables_of_sibling_scopes_are_kept_apart():
    tables = kernel(REGISTERS + f"{{{TABLE}}}" * 2).branch_tables
    assert tables["$L_brx_0@1"] == ("A@1", "B@1")


def test_branch_table_may_be_a_range():
    assert kernel("t: .branchtargets N<2>; N0: N1: ret;").branch_tables == {
        "t": ("N0", "N1")
    }


@pytest.mark.parametrize(
    "body",
    [
        "t: .branchtargets A; ret;",
        "t: .branchtargets A, ; A: ret;",
        "t: .branchtargets " + "N<9999>," * 9 + "N; N: ret;",
        "t: .calltargets nowhere;",
    ],
)
def test_table_that_is_not_understood_is_refused(body):
    with pytest.raises(UnsupportedError, match="PTX line 6"):
        kernel(body)


CALLS = """
.func f(); .func g(.param .b32 a, .param .b32 b);
.func (.param .b32 r) h(.param .b32 a);
.entry k() {
.reg .b64 %rd<3>; .param .b32 x; .param .b32 y; .param .b32 z;
p: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _);
"""


@pytest.mark.parametrize(
    ("text", "results", "function", "arguments", "prototype"),
    [
        ("call f;", (), "f", (), None),
        ("call.uni g, (x, y);", (), "g", ("x", "y"), None),
        ("call.uni (z), \nh, \n(\nx\n)\n;", ("z",), "h", ("x",), None),
        ("call (z), h;", ("z",), "h", (), None),
        ("call (z), %rd1, (x), p;", ("z",), "%rd1", ("x",), "p"),
        ("call %rd1, (x, y), p;", (), "%rd1", ("x", "y"), "p"),
        ("call %rd1, (), p;", (), "%rd1", (), "p"),
    ],
)
def test_call_has_results_function_arguments_and_prototype(
    text, results, function, arguments, prototype
):
    (call,) = module(CALLS + text + "}").functions["k"].instructions[-1].operands
    found = (call.results, call.function.name, call.arguments, call.prototype)
    assert found == (results, function, arguments, prototype)


def test_call_names_the_variables_of_its_scope():
    sequence = "{ .param .b32 a; call f, (a); }"
    text = f".func f(.param .b32 x); .entry k() {{ {sequence} {sequence} }}"
    calls = [i.operands[0] for i in module(text).functions["k"].instructions]
    assert [call.arguments for call in calls] == [("a",), ("a@1",)]


def test_call_targets_are_listed():
    text = CALLS + "t: .calltargets f, g; call %rd1, (x), t; }"
    assert module(text).functions["k"].branch_tables == {"t": ("f", "g")}


@pytest.mark.parametrize(
    "text",
    [
        "call;",
        "call (z);",
        "call f, (%rd1);",
        "call f, (x, );",
        "call f, (x;",
        "call %rd1, (x), q;",
        "call f, (x), p, p;",
        "call 5, (x);",
        "call nowhere, (x);",
    ],
)
def test_call_that_is_not_understood_is_refused(text):
    with pytest.raises(UnsupportedError, match="PTX line 10"):
        module(CALLS + text + "}")


# --- source positions


def locations(body: str) -> list:
    """Parse a body and return the locations of its instructions."""
    text = f'.entry k() {{ {body} }}\n.file 1 "a.cu"\n.file 2 "b.h"'
    return [i.location for i in module(text).functions["k"].instructions]


def test_location_has_file_line_and_column():
    assert locations(".loc 2 7 3\n ret;") == [ir.Location("b.h", 7, 3)]


def test_instruction_before_any_loc_has_no_location():
    assert locations("ret;") == [None]


def test_location_holds_until_the_next_loc():
    found = locations(".loc 1 5 2\n ret; ret; .loc 1 6 0\n ret;")
    assert [place.line for place in found] == [5, 5, 6]


def test_line_zero_keeps_the_location():
    assert locations(".loc 1 5 2\n ret; .loc 1 0 2\n ret;")[1].line == 5


def test_line_zero_at_the_start_gives_no_location():
    assert locations(".loc 1 0 2\n ret;") == [None]


@pytest.mark.parametrize("name", ["$L__info_string0", "$L__info_string0+10"])
def test_inlined_code_knows_its_call(name):
    (found,) = locations(f".loc 2 3 1, function_name {name}, inlined_at 1 9 4\n ret;")
    assert found == ir.Location("b.h", 3, 1, ir.Location("a.cu", 9, 4))


NESTED = """
.loc 1 9 4
.loc 1 5 2, function_name $L0, inlined_at 1 9 4
.loc 1 2 1, function_name $L1, inlined_at 1 5 2
ret;
"""


def lines(place: ir.Location | None) -> list[int]:
    """Return the lines from the innermost call to the outermost."""
    found = []
    while place is not None:
        found.append(place.line)
        place = place.inlined_at
    return found


def test_nested_inlining_gives_a_chain():
    assert lines(locations(NESTED)[0]) == [2, 5, 9]


def test_chain_follows_the_latest_call():
    again = NESTED.replace(" 9 4", " 8 4")
    assert [lines(place) for place in locations(NESTED + again)] == [
        [2, 5, 9],
        [2, 5, 8],
    ]


def test_call_from_generated_code_ends_the_chain():
    (found,) = locations(".loc 1 3 1, function_name $L0, inlined_at 1 0 0\n ret;")
    assert found.inlined_at is None


def test_endless_chain_is_cut():
    body = ".loc 1 3 1, function_name $L0, inlined_at 1 3 1\n" * 500
    assert len(lines(locations(body + "ret;")[0])) < 100


def test_functions_do_not_share_locations():
    text = ".func f() { .loc 1 5 1\n ret; } .func g() { ret; }"
    assert module(text).functions["g"].instructions[0].location is None


def test_file_that_is_not_listed_still_gives_a_line():
    (found,) = locations(".loc 9 5 1\n ret;")
    assert (found.file, found.line) == ("<file 9>", 5)


# --- errors


def test_error_names_line_and_text():
    with pytest.raises(UnsupportedError, match=r"PTX line 9: .*mov\.b32 %r1, %bad;"):
        kernel("ret; /* \n */ ret; // \n\n mov.b32 %r1, %bad;")


def test_error_at_a_branch_names_its_line():
    with pytest.raises(UnsupportedError, match=r"PTX line 7: no label L: bra L;"):
        kernel("ret;\nbra L;\nret;")


def test_error_has_cause_and_cure():
    with pytest.raises(UnsupportedError) as caught:
        module("garbage")
    assert caught.value.cause and caught.value.cure


SAMPLE = (
    HEAD
    + """
.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
.global .align 1 .b8 $str[4] = {104, 105, 10};
.global .u32 s[2][2] = {{1}, {0x2, -3}};
.global .u64 t[2] = {generic(s)+4, vprintf};
.extern .shared .align 16 .b8 dyn[];
.visible .entry k(.param .u64 .ptr .align 1 out, .param .align 8 .b8 v[24])
.maxntid 128, 1, 1
{
    .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>;
    .loc 1 3 1, function_name $L__info_string0, inlined_at 1 9 4
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
$L_1:
    @!%p1 bra $L_1;
    { // callseq 0
    .reg .b32 temp;
    .param .b64 param0;
    .param .b32 retval0;
    st.param.b64 [param0+0], %rd1;
    call.uni (retval0), vprintf, (param0, param0);
    ld.param.b32 %r2, [retval0];
    }
    tb: .branchtargets $L_1, $L_2;
    brx.idx %r1, tb;
    ld.global.v4.f32 {%f1, %f2, %f3, _}, [%rd1+-16];
    setp.eq.and.f32 %p1|%p2, %f1, 0f3F800000, !%p1;
    cp.async.bulk.tensor.2d.shared::cluster [%r1], [%rd1, {%r1, 0x20}], [dyn+8];
$L_2:
    ret;
}
.file 1 "a.cu"
.section .debug_str { .b8 1,2 }
"""
)
FRAGMENTS = tuple("{}[]()<>;,.:%@!|+-=_\"'0\n\0\u00b2\u00e9") + (
    "/*", "//", "0x", "0f", "9" * 25, ".b8 q[9] = {1};", ".reg .b32 %r<9>;",
    "generic(", ".align 0", "inlined_at 1 3 1", "bra L;", "::", "&&",
)  # fmt: skip


def mutate(text: str, rng: random.Random) -> str:
    """Spoil a text: insert, delete, repeat, swap lines or truncate, a few times."""
    for _ in range(rng.choice((1, 1, 2, 8))):
        at, other = rng.randrange(len(text) + 1), rng.randrange(len(text) + 1)
        length = rng.randrange(1, 30)
        text = rng.choice(
            (
                text[:at] + rng.choice(FRAGMENTS) + text[at:],
                text[:at] + text[at + length :],
                text[:at] + text[other : other + length] + text[at:],
                text[:at] + chr(rng.randrange(1, 300)) + text[at + 1 :],
                text[:at] + text[at:][::-1],
                text[: max(at, 1)],
            )
        )
    return text


def outcome(text: str) -> str:
    """Say whether a text was parsed or refused; any other exception gets out."""
    try:
        parse(text)
    except CourseError:
        return "refused"
    return "parsed"


def test_sample_for_mutation_is_understood():
    assert outcome(SAMPLE) == "parsed"


@pytest.mark.parametrize("seed", range(20))
def test_damaged_text_is_parsed_or_refused(seed):
    rng = random.Random(seed)
    outcomes = {outcome(mutate(SAMPLE, rng)) for _ in range(40)}
    assert outcomes <= {"parsed", "refused"}


@pytest.mark.parametrize("part", range(10))
def test_truncated_text_is_parsed_or_refused(part):
    ends = range(part, len(SAMPLE), 10)
    assert {outcome(SAMPLE[:end]) for end in ends} <= {"parsed", "refused"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".entry k(){" + "{" * 100_000,
        ".entry k(){ mov " + "{" * 5_000 + "}" * 5_000 + ";}",
        ".entry k(){ mov " + "!" * 5_000 + "p;}",
        ".entry k(){ mov " + "[a," * 5_000 + "]" * 5_000 + ";}",
        ".entry k(){ mov x, " + "9" * 100_000 + ";}",
        ".global .b8 a[4] = " + "{" * 5_000 + "}" * 5_000 + ";",
        ".global .b8 a[4] " + " " * 100_000 + "x;",
        ".entry k(){ @" + " " * 100_000 + "x",
        '.file 1 "a"' + " " * 100_000 + "x",
        "/*" * 100_000,
        '"' * 100_000,
    ],
    ids=range(12),
)
def test_hostile_text_is_refused_without_hanging(text):
    assert outcome(HEAD * bool(text) + text) == "refused"


def test_operand_that_runs_into_the_next_line_is_shown_on_one():
    with pytest.raises(UnsupportedError) as caught:
        instruction("mov.u32 %r1, %laneid\n\t.loc 1 9 5\n\tret;")
    assert "`%laneid .loc 1 9 5 ret`" in str(caught.value)
