"""Chapter 04a: pieces that look at what the compiler has made of a kernel."""

import re
import reprlib

import numpy as np

import coursekit as ck
from coursekit.errors import CheckFailed, CompileError, OutOfBoundsError
from coursekit.exercises import (
    Exercise,
    HostExercise,
    Mutant,
    blank,
    blocks,
    shuffled,
)

SIZES = (0, 1, 31, 32, 33, 255, 257)
H200 = "sm_90"
BRANCH = re.compile(r"@!?%p\d+\s+bra\b")
OUTPUT = re.compile(r'"[=+]r"')


def instructions(kernel):
    """Return the lines of a kernel's PTX."""
    return [line.strip() for line in kernel.module.ptx.splitlines()]


def count(kernel, opcode):
    """Count the instructions whose first word is an opcode."""
    return sum(line.split(".")[0] == opcode for line in instructions(kernel))


def branches(kernel):
    """Count the conditional branches."""
    return sum(BRANCH.match(line) is not None for line in instructions(kernel))


def hand_written(kernel):
    """Return the lines of inline PTX."""
    text = kernel.module.ptx
    found = re.findall(r"// begin inline asm\n(.*?)// end inline asm", text, re.DOTALL)
    return " ".join(found)


def assembles(kernel):
    """Demand an output of the asm, and let ptxas judge its operands."""
    if not OUTPUT.search(kernel.module.source):
        raise CheckFailed.explained(
            "The asm has no output, and its instruction writes to an operand.",
            "Operands behind the first colon are outputs, those behind the second are "
            "inputs. The compiler takes an input for unchanged.",
            'Name the variable behind the first colon, as in "=r"(variable).',
        )
    try:
        kernel.module.resources_on(kernel.name, H200)
    except CompileError as error:
        raise CheckFailed.explained(
            f"ptxas refuses the PTX: {error.what}",
            "The simulator takes the bits of any register. ptxas compares the type of "
            "each operand with the instruction.",
            'Give the letter of the type that the instruction has: "r" for u32 and '
            'b32, "f" for f32.',
        ) from None


# ---------------------------------------------------------------- 04.a


def x_and_y(n, generator):
    """Return what saxpy takes."""
    x, y = shuffled(2 * n, generator).reshape(2, n)
    return {"x": x.copy(), "y": y.copy(), "a": 3.0, "n": n}


def one_fma(kernel):
    """Look for the FMA in the PTX."""
    if count(kernel, "fma") != 1:
        raise CheckFailed.explained(
            f"The number of instructions `fma` in the PTX is {count(kernel, 'fma')}, "
            "and one is enough.",
            "The multiplication and the addition stand in different statements that "
            "the compiler could not join, or the work is done twice.",
            "Write one expression: a product, plus an element of y.",
        )


# ---------------------------------------------------------------- 04.1

DOUBLE = "__global__ void f(double *x) { *x = *x * 3.0 + 1.0; }"
EARLY = "__global__ void f(int *x, int n) { if (threadIdx.x < n) *x = 1; }"
NEGATED = """
.visible .entry f()
{
	@!%p1 bra 	$L_1;
	fma.rn.f32 	%f1, %f2, %f3, %f4;
	@%p2 st.global.f32 	[%rd1], %f1;
	// fma in a comment
	mad.lo.s32 	%r1, %r2, %r3, %r4;
$L_1:
	ret;
}
"""

TWO_KINDS = "a PTX with `@!%p1 bra`, `@%p2 st` and a comment `// fma`"


def found_in(find, ptx, expected, what):
    """Demand the two numbers for one PTX."""
    found = find(ptx)
    if found == expected:
        return
    if not isinstance(found, tuple) or len(found) != 2:
        raise CheckFailed.explained(
            f"find returns {found!r}.",
            "Two numbers are asked for.",
            "Return a tuple: FMAs first, then instructions with a predicate.",
        )
    which = 0 if found[0] != expected[0] else 1
    names = "FMAs", "instructions with a predicate"
    raise CheckFailed.explained(
        f"In {what} the number of {names[which]} is {expected[which]}, and find "
        f"counts {found[which]}.",
        "An opcode is the first word, up to the first dot. A predicate stands before "
        "it, behind an @.",
        "Print the lines that you count, and look for what is missing or too much.",
    )


def in_saxpy(find, show):
    """Count in the chapter's saxpy."""
    ptx = ck.compile("compiling/saxpy.cu").ptx
    found_in(find, ptx, (1, 1), "the PTX of saxpy")


def in_others(find, show):
    """Count where types, signs and names differ."""
    plain = ck.compile("compiling/saxpy.cu", options=("--fmad=false",)).ptx
    found_in(find, plain, (0, 1), "the PTX of saxpy with --fmad=false")
    found_in(find, ck.compile(DOUBLE).ptx, (1, 0), "a multiply-add of doubles")
    found_in(find, ck.compile(EARLY).ptx, (0, 1), "a guarded store")


# ---------------------------------------------------------------- 04.b


def leaky_inputs(n, generator):
    """Return what leaky takes: both signs."""
    x = shuffled(n, generator)
    if n:
        x -= np.float32(np.median(x))
    return {"x": x, "y": blank(n), "slope": 0.25, "n": n}


def one_branch(kernel):
    """Allow one conditional branch, that of the guard."""
    found = branches(kernel)
    if found > 1:
        raise CheckFailed.explained(
            f"The PTX has {found} conditional branches: the guard, and one more.",
            "There are two stores, and a condition decides about at least one of them. "
            "The compiler may choose between two values without a branch, but not "
            "between two stores.",
            "Compute the value first, with ?: or an if without a store, and store it "
            "behind that.",
        )


# ---------------------------------------------------------------- 04.c

TERMS = 8


def horner_inputs(n, generator):
    """Return what horner takes."""
    x = generator.uniform(-1, 1, n).astype(np.float32)
    return {"x": x, "c": shuffled(TERMS, generator), "y": blank(n),
            "terms": TERMS, "n": n}  # fmt: skip


def size_of_terms(v):
    """Return the sum of the sizes of the terms."""
    return np.abs(v.c).sum() + 0 * v.x


def no_loop(kernel):
    """Demand eight FMAs, and no branch but the guard's."""
    fmas, found = count(kernel, "fma"), branches(kernel)
    if found > 1:
        raise CheckFailed.explained(
            f"The number of conditional branches in the PTX is {found}, and that of "
            f"FMAs is {fmas}: there is still a loop.",
            "The compiler can write all iterations out only if it knows their number. "
            "It cannot know what `terms` will hold. (If it unrolls by a factor of its "
            "own, a second loop is left for the rest.)",
            "Put the number itself into the loop's condition.",
        )
    if fmas not in (TERMS - 1, TERMS):  # c[0] needs none where a sum begins with it
        raise CheckFailed.explained(
            f"The number of FMAs in the PTX is {fmas}, for {TERMS} terms.",
            "Some iterations are missing, or the work is done twice.",
            "Keep the body of the loop, and change its condition only.",
        )


# ---------------------------------------------------------------- 04.2


def factors(multiply_adds, show):
    """Compare some factors with a count of our own."""
    for factor in (1, 2, 4, 16):
        module = ck.compile("compiling/unroll.cu", defines={"UNROLL": factor})
        expected = sum(
            line.strip().startswith("fma.rn.f32") for line in module.ptx.splitlines()
        )
        found = multiply_adds("compiling/unroll.cu", factor)
        if found != expected:
            raise CheckFailed.explained(
                f"With UNROLL = {factor} the number of FMAs is {expected}, and "
                f"multiply_adds returns {reprlib.repr(found)}.",
                "The factor has not reached the compiler, or something else is "
                "counted.",
                'Pass defines={"UNROLL": factor} to ck.compile, and count fma.rn.f32 '
                "in module.ptx.",
            )


# ---------------------------------------------------------------- 04.d


def full_floats(n, generator):
    """Return floats that use all 24 bits, so that their products are rounded."""
    a, b = (generator.random(n, dtype=np.float32) + np.float32(1) for _ in range(2))
    return {"a": a, "b": b, "out": blank(n), "n": n}


def lost(v):
    """Return what rounding takes away; float64 holds the product exactly."""
    return v.a * v.b - (v.a * v.b).astype(np.float32)


# ---------------------------------------------------------------- 04.e, 04.3


def no_inputs(n, generator):
    """Return what lanes takes."""
    return {"out": blank(n, np.uint32), "n": n}


def rows_of_24(n):
    """Launch blocks of 24 x 4 threads: three warps each."""
    return blocks(n, 96), (24, 4)


def one_row(n):
    """Launch blocks of 96 x 1 threads."""
    return blocks(n, 96), 96


def reads_laneid(kernel):
    """Look for the special register in hand-written PTX."""
    if "%laneid" not in hand_written(kernel):
        raise CheckFailed.explained(
            "No inline PTX of this kernel reads %laneid.",
            "The results are right, and computed in another way.",
            'Write asm("...") with the instruction mov.u32 and the register %%laneid.',
        )
    assembles(kernel)


def signed_floats(n, generator):
    """Return normal floats of many sizes and both signs."""
    x = generator.standard_normal(n) * 2.0 ** generator.integers(-60, 60, n)
    return {"x": x.astype(np.float32), "e": blank(n, np.int32), "n": n}


def exponents(v):
    """Return the exponent of the leading bit."""
    return np.frexp(v.x)[1].astype(np.int64) - 1


def cuts_a_field(kernel):
    """Look for the bit-field extract in hand-written PTX."""
    if "bfe.u32" not in hand_written(kernel):
        raise CheckFailed.explained(
            "No inline PTX of this kernel has bfe.u32.",
            "The results are right, and computed in another way.",
            'Write asm("bfe.u32 %0, %1, ..., ...;" : "=r"(field) : "r"(bits)); with '
            "the first bit and the number of bits.",
        )
    assembles(kernel)


# ---------------------------------------------------------------- 04.f

HELD = 48


def values_to_hold(n, generator):
    """Return what mirror takes: 48 values per thread."""
    return {"x": shuffled(n, generator), "y": blank(n)}


def one_block(n):
    """Launch one block for all values."""
    return 1, n // HELD


def three_blocks(n):
    """Launch three blocks."""
    return 3, n // HELD // 3


def mirrored(v):
    """Return the rows in reverse order."""
    return v.x.reshape(HELD, -1)[::-1].reshape(-1)


def two_blocks(kernel):
    """Demand the bounds, and no spills."""
    ptx = kernel.module.ptx
    threads = re.search(r"\.maxntid\s+(\d+)", ptx)
    blocks_wanted = re.search(r"\.minnctapersm\s+(\d+)", ptx)
    if threads is None or int(threads[1]) != 256:
        said = f"{threads[1]} threads" if threads else "nothing"
        raise CheckFailed.explained(
            f"The PTX promises {said} per block, and 256 are launched.",
            "Without __launch_bounds__ the compiler does not know how many threads "
            "share the registers of an SM; with a larger number it leaves room for "
            "threads that never come.",
            "Write __launch_bounds__(256, ...) between __global__ and the name.",
        )
    needs = kernel.module.resources_on(kernel.name, H200)
    if needs.spill_store_bytes:
        raise CheckFailed.explained(
            f"{needs.registers} registers per thread are left, and "
            f"{needs.spill_store_bytes} bytes are spilled to local memory.",
            f"The bounds ask for {blocks_wanted[1] if blocks_wanted else 1} blocks per "
            "SM: 65,536 registers do not suffice for that many.",
            "Ask for two blocks.",
        )
    if needs.local_bytes:
        raise CheckFailed.explained(
            f"Nothing is spilled, but a thread has {needs.local_bytes} bytes of local "
            "memory.",
            "Where a loop is not unrolled, the index of an array is known at run time "
            "only, and the whole array lies in local memory.",
            "Leave the loops to the compiler, and change the bounds only.",
        )
    if blocks_wanted is None or needs.registers > 128:
        raise CheckFailed.explained(
            f"A thread has {needs.registers} registers: 256 threads take "
            f"{256 * needs.registers:,} of 65,536, so one block fits per SM.",
            "The number of blocks is not in the bounds, or it is 1.",
            "The second number of __launch_bounds__ is the number of blocks that "
            "shall fit.",
        )


EXERCISES = (
    Exercise(
        id="04.a",
        name="saxpy",
        title="A multiplication and an addition",
        kernel="saxpy",
        inputs=x_and_y,
        outputs=("y",),
        accumulates=("y",),
        sizes=SIZES,
        longest_warp=100,
        reference=lambda v: v.a * v.x + v.y,
        roundings=2,
        compiled=(("one FMA in the PTX", one_fma),),
        hints=(
            "The index and the guard are there. One assignment to y[i] is missing.",
            "Its right side has a, x[i] and y[i].",
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "old_y_lost": Mutant(
                mistake="The old value of y is left out.",
                edits=[("a * x[i] + y[i]", "a * x[i]")],
                fails=(CheckFailed, "wrong"),
            ),
            "added_twice": Mutant(
                mistake="The element of x is added where it should be multiplied.",
                edits=[("a * x[i] + y[i]", "a + x[i] + y[i]")],
                fails=(CheckFailed, "wrong"),
            ),
            "no_guard": Mutant(
                mistake="The guard lets every thread through.",
                edits=[("if (i < n)", "if (true)")],
                fails=(OutOfBoundsError, "x has 8 elements"),
            ),
            "two_roundings": Mutant(
                mistake="The product is rounded by itself.",
                edits=[("a * x[i] + y[i]", "__fmul_rn(a, x[i]) + y[i]")],
                fails=(CheckFailed, "The number of instructions `fma` in the PTX is 0"),
            ),
        },
    ),
    HostExercise(
        id="04.1",
        name="find",
        title="Find the FMA and the predicate",
        stars=1,
        function="find",
        checks=(
            ("the PTX of saxpy", in_saxpy),
            ("other PTX", in_others),
            (
                "a negated predicate",
                lambda find, show: found_in(find, NEGATED, (1, 2), TWO_KINDS),
            ),
        ),
        hints=(
            "Print the lines of the saxpy above. How does the line with the FMA begin? "
            "How does the line with the branch begin?",
            "The first word of an FMA is fma.rn.f32, or fma.rn.f64: cut it off at the "
            'first dot, with line.split(".")[0]. A predicate begins with an @.',
            'if line.split(".")[0] == "fma" counts the FMAs that have no predicate. '
            'line.startswith("@") tells whether a line has one.',
        ),
        starter=(CheckFailed, "the number of FMAs is 1, and find counts 0"),
        mutants={
            "anywhere": Mutant(
                mistake="Every line that names an fma counts.",
                edits=[('line.split(".")[0] == "fma"', '"fma" in line')],
                fails=(CheckFailed, "the number of FMAs is 1, and find counts 2"),
            ),
            "only_floats": Mutant(
                mistake="FMAs of doubles are left out.",
                edits=[
                    ('line.split(".")[0] == "fma"', 'line.startswith("fma.rn.f32")')
                ],
                fails=(
                    CheckFailed,
                    "of doubles the number of FMAs is 1, and find counts 0",
                ),
            ),
            "any_predicate": Mutant(
                mistake="Every line that names a predicate counts.",
                edits=[('line.startswith("@")', '"%p" in line')],
                fails=(
                    CheckFailed,
                    "instructions with a predicate is 1, and find counts",
                ),
            ),
            "not_negated": Mutant(
                mistake="A negated predicate does not count.",
                edits=[('line.startswith("@")', 'line.startswith("@%")')],
                fails=(
                    CheckFailed,
                    "`// fma` the number of instructions with a predicate",
                ),
            ),
            "lists": Mutant(
                mistake="It returns the lines in place of their number.",
                edits=[("len(fmas), len(guarded)", "fmas + guarded")],
                fails=(CheckFailed, "Two numbers are asked for"),
            ),
        },
    ),
    Exercise(
        id="04.b",
        name="leaky",
        title="A branch becomes a select",
        kernel="leaky",
        inputs=leaky_inputs,
        outputs=("y",),
        sizes=SIZES,
        reference=lambda v: np.where(v.x > 0, v.x, v.slope * v.x),
        compiled=(("one conditional branch, the guard", one_branch),),
        hints=(
            "Both sides store to the same place. Which value is stored is the only "
            "difference.",
            "y[i] = condition ? one value : another;",
        ),
        starter=(CheckFailed, "2 conditional branches"),
        mutants={
            "swapped": Mutant(
                mistake="The two values are swapped.",
                edits=[("x[i] : slope * x[i]", "slope * x[i] : x[i]")],
                fails=(CheckFailed, "wrong"),
            ),
            "relu": Mutant(
                mistake="The negative side becomes 0.",
                edits=[(": slope * x[i]", ": 0")],
                fails=(CheckFailed, "wrong"),
            ),
        },
    ),
    Exercise(
        id="04.c",
        name="horner",
        title="A loop that disappears",
        kernel="horner",
        inputs=horner_inputs,
        outputs=("y",),
        sizes=SIZES,
        reference=lambda v: np.polyval(v.c, v.x),
        roundings=2 * TERMS,
        magnitude=size_of_terms,
        compiled=(("eight FMAs, and no loop", no_loop),),
        hints=(
            "`#pragma unroll` alone does not do it: the compiler has to know how many "
            "iterations there are. Where does it learn that?",
            "In the condition of the loop, `terms` is a parameter, known at the "
            "launch. A number is known when the kernel is compiled.",
        ),
        starter=(CheckFailed, "there is still a loop"),
        mutants={
            "pragma_only": Mutant(
                mistake="The loop is unrolled, and the number stays unknown.",
                edits=[
                    (
                        "    for (int k = 0; k < 8; k++)",
                        "#pragma unroll\n    for (int k = 0; k < terms; k++)",
                    )
                ],
                fails=(CheckFailed, "there is still a loop"),
            ),
            "one_less": Mutant(
                mistake="The last coefficient is left out.",
                edits=[("k < 8", "k < 7")],
                fails=(CheckFailed, "wrong"),
            ),
        },
    ),
    HostExercise(
        id="04.2",
        name="prove",
        title="Prove that `#pragma unroll` has changed the code",
        stars=1,
        function="multiply_adds",
        checks=(("factors 1, 2, 4 and 16", factors),),
        hints=(
            "The kernel's file takes the factor from a macro, UNROLL. ck.compile can "
            "define macros.",
            'ck.compile(path, defines={"UNROLL": factor}) compiles with this factor. '
            "module.ptx is a text.",
            'A text counts: module.ptx.count("fma.rn.f32").',
        ),
        starter=(CheckFailed, "With UNROLL = 1 the number of FMAs is 1"),
        mutants={
            "no_macro": Mutant(
                mistake="The factor does not reach the compiler.",
                edits=[(', defines={"UNROLL": factor}', "")],
                fails=(CheckFailed, "With UNROLL = 2 the number of FMAs is"),
            ),
            "other_macro": Mutant(
                mistake="The macro has another name.",
                edits=[('"UNROLL"', '"FACTOR"')],
                fails=(CheckFailed, "With UNROLL = 2 the number of FMAs is"),
            ),
            "assumed": Mutant(
                mistake="The factor is returned, in place of a count.",
                edits=[('module.ptx.count("fma.rn.f32")', "factor")],
                fails=(CheckFailed, "and multiply_adds returns 2"),
            ),
        },
    ),
    Exercise(
        id="04.d",
        name="rest",
        title="What rounding takes away",
        kernel="rest",
        inputs=full_floats,
        outputs=("out",),
        sizes=SIZES,
        reference=lost,
        roundings=0,
        hints=(
            "The compiler computes a[i] * b[i] once, rounds it, and subtracts it from "
            "itself. The product must not be rounded before the subtraction.",
            "__fmaf_rn(u, v, w) is u * v + w, rounded once. What is w here?",
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "wrong_sign": Mutant(
                mistake="The product is added.",
                edits=[("-product", "product")],
                fails=(CheckFailed, "wrong"),
            ),
            "negated": Mutant(
                mistake="The difference has the other sign.",
                edits=[
                    (
                        "__fmaf_rn(a[i], b[i], -product)",
                        "__fmaf_rn(-a[i], b[i], product)",
                    )
                ],
                fails=(CheckFailed, "wrong"),
            ),
        },
    ),
    Exercise(
        id="04.e",
        name="lane",
        title="A special register, by hand",
        kernel="lanes",
        inputs=no_inputs,
        outputs=("out",),
        sizes=(0, 1, 31, 33, 97, 192),
        picture=33,
        launches=(rows_of_24, one_row),
        owner=None,
        reference=lambda v: np.arange(v.out.size) % 32,
        compiled=(("%laneid in inline PTX", reads_laneid),),
        hints=(
            'The form is asm("instruction;" : outputs : inputs); with one output, '
            '"=r"(lane), and no inputs.',
            "In the text of an asm with operands, %0 is the first operand, and a "
            "register's % is written twice: %%laneid.",
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "thread_in_row": Mutant(
                mistake="It reads the thread's number along x.",
                edits=[("%%laneid", "%%tid.x")],
                fails=(CheckFailed, "wrong"),
            ),
            "remainder": Mutant(
                mistake="The lane is computed, not read.",
                edits=[
                    (
                        'asm("mov.u32 %0, %%laneid;" : "=r"(lane));',
                        "lane = thread % 32;",
                    )
                ],
                fails=(CheckFailed, "No inline PTX of this kernel reads %laneid"),
            ),
            "as_input": Mutant(
                mistake="The variable is an input, and the instruction writes to it.",
                edits=[(': "=r"(lane)', ': : "r"(lane)')],
                fails=(CheckFailed, "has no output"),
            ),
        },
    ),
    Exercise(
        id="04.3",
        name="exponent",
        title="Cut a field out of a float",
        stars=2,
        kernel="exponent",
        inputs=signed_floats,
        outputs=("e",),
        sizes=SIZES,
        reference=exponents,
        compiled=(("bfe.u32 in inline PTX", cuts_a_field),),
        hints=(
            "A float has 23 bits of fraction, then 8 bits of exponent, then the sign. "
            "bfe.u32 d, a, b, c takes c bits of a, from bit b on.",
            'The asm has one output, "=r"(field), which is %0, and one input, '
            '"r"(bits), which is %1. The two numbers stand in the text.',
            'asm("bfe.u32 %0, %1, 23, 8;" : "=r"(field) : "r"(bits)); and the bias of '
            "127 is still in the field.",
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "with_sign": Mutant(
                mistake="The field is one bit too long.",
                edits=[("23, 8", "23, 9")],
                fails=(CheckFailed, "wrong"),
            ),
            "one_bit_early": Mutant(
                mistake="The field begins one bit too early.",
                edits=[("23, 8", "22, 8")],
                fails=(CheckFailed, "wrong"),
            ),
            "bias_left": Mutant(
                mistake="The bias stays in the exponent.",
                edits=[("int(field) - 127", "int(field)")],
                fails=(CheckFailed, "wrong"),
            ),
            "in_cpp": Mutant(
                mistake="The field is cut out in C++.",
                edits=[
                    (
                        'asm("bfe.u32 %0, %1, 23, 8;" : "=r"(field) : "r"(bits));',
                        "field = bits >> 23 & 0xff;",
                    )
                ],
                fails=(CheckFailed, "No inline PTX of this kernel has bfe.u32"),
            ),
            "float_register": Mutant(
                mistake="The operand is a float, and bfe.u32 takes an integer.",
                edits=[('"r"(bits)', '"f"(x[i])')],
                fails=(CheckFailed, "Arguments mismatch for instruction 'bfe'"),
            ),
        },
    ),
    Exercise(
        id="04.f",
        name="bounds",
        title="A promise about the launch",
        kernel="mirror",
        inputs=values_to_hold,
        outputs=("y",),
        sizes=(3 * HELD, 33 * HELD, 255 * HELD),
        picture=3 * HELD,
        launches=(one_block, three_blocks),
        owner=None,
        reference=mirrored,
        compiled=(("256 threads, two blocks per SM, no spills", two_blocks),),
        hints=(
            "__launch_bounds__(threads, blocks) stands between __global__ and the "
            "kernel's name, or between the type void and the name.",
            "__global__ void __launch_bounds__(256, ...) mirror(...)",
        ),
        starter=(CheckFailed, "promises nothing per block"),
        mutants={
            "threads_only": Mutant(
                mistake="No number of blocks is asked for.",
                edits=[("(256, 2)", "(256)")],
                fails=(CheckFailed, "so one block fits per SM"),
            ),
            "too_many": Mutant(
                mistake="Eight blocks are asked for.",
                edits=[("(256, 2)", "(256, 8)")],
                fails=(CheckFailed, "bytes are spilled to local memory"),
            ),
            "most_threads": Mutant(
                mistake="The promise is 1024 threads, more than are launched.",
                edits=[("(256, 2)", "(1024)")],
                fails=(CheckFailed, "promises 1024 threads per block"),
            ),
            "rolled": Mutant(
                mistake="The loop is not unrolled, so that the array has no registers.",
                edits=[
                    ("    float held[HELD];", "    float held[HELD];\n#pragma unroll 1")
                ],
                fails=(CheckFailed, "192 bytes of local memory"),
            ),
        },
    ),
)
