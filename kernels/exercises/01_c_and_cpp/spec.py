"""Pieces of chapter 01: pointers, structs, sizes, macros, files, recursion, owners."""

from coursekit.errors import CheckFailed
from coursekit.exercises import Case, Mutant, ProgramExercise

EXERCISES = (
    ProgramExercise(
        id="01.a",
        name="swap",
        title="Two numbers change places",
        cases=(
            Case(
                args=(3, 4),
                stdout="4 3\n",
                causes={
                    "3 4": "main's numbers have not changed. `a` and `b` themselves "
                    "are copies of two addresses; `*a` and `*b` are the numbers.",
                    "4 4": "One of the two numbers was overwritten before it was "
                    "kept.",
                    "3 3": "One of the two numbers was overwritten before it was "
                    "kept.",
                },
            ),
            Case(args=(-7, 7), stdout="7 -7\n"),
            Case(args=(5, 5), stdout="5 5\n"),
        ),
        hints=(
            "*a is the number at the address a, on both sides of an assignment. After "
            "*a = *b the first number is gone, so keep it before.",
            "int kept = *a; then *a = *b; and last, *b gets what was kept.",
        ),
        starter=(CheckFailed, "prints '3 4' in line 1, and should print '4 3'"),
        mutants={
            "addresses": Mutant(
                mistake="The addresses change places, and only inside of swap.",
                edits=[
                    ("    int kept = *a;\n    *a = *b;\n    *b = kept;",
                     "    int *kept = a;\n    a = b;\n    b = kept;\n    (void)b;"),
                ],
                fails=(CheckFailed, "prints '3 4' in line 1"),
            ),
            "one_is_lost": Mutant(
                mistake="Nothing keeps the first number.",
                edits=[("*b = kept", "*b = *a")],
                fails=(CheckFailed, "prints '4 4' in line 1"),
            ),
            "kept_address": Mutant(
                mistake="It keeps the address, and what is there changes.",
                edits=[("int kept = *a", "int *kept = a"), ("= kept", "= *kept")],
                fails=(CheckFailed, "prints '4 4' in line 1"),
            ),
        },
    ),
    ProgramExercise(
        id="01.1",
        name="allocate",
        title="The block that never arrives",
        stars=1,
        cases=(
            Case(args=(5,), stdout="16\n"),
            Case(args=(1,), stdout="0\n"),
            Case(args=(1000,), stdout="998001\n"),
        ),
        hints=(
            "allocate has a copy of the pointer. What would it need to change the "
            "pointer of main?",
            "It needs the address of that pointer. The address of a float * has the "
            "type float **.",
            "Write float **values, then *values = ..., and main calls "
            "allocate(&squares, n).",
        ),
        starter=(CheckFailed, "null pointer"),
        mutants={
            "bytes_for_elements": Mutant(
                mistake="It asks for n bytes, not for n floats.",
                edits=[("n * sizeof(float)", "n")],
                fails=(CheckFailed, "behind a block of 5 bytes"),
            ),
            "one_too_many": Mutant(
                mistake="The loop runs one element too far.",
                edits=[("i < n", "i <= n")],
                fails=(CheckFailed, "right behind a block of 20 bytes"),
            ),
            "never_freed": Mutant(
                mistake="Nobody frees the block.",
                edits=[("    std::free(squares);\n", "")],
                fails=(CheckFailed, "are never freed"),
            ),
            "freed_too_early": Mutant(
                mistake="The block is freed before it is read.",
                edits=[
                    ("    std::printf", "    std::free(squares);\n    std::printf"),
                    ("squares[n - 1]);\n    std::free(squares);", "squares[n - 1]);"),
                ],
                fails=(CheckFailed, "in memory that was freed"),
            ),
        },
    ),
    ProgramExercise(
        id="01.2",
        name="network",
        title="A step that is lost",
        stars=1,
        cases=(
            Case(
                args=(2,),
                stdout="7\n",
                causes={
                    "8": "The network of main has not changed: step has changed a "
                    "copy of it.",
                },
            ),
            Case(args=(-4,), stdout="10\n"),
            Case(args=(0,), stdout="8\n"),
        ),
        hints=(
            "A parameter is a copy, a struct too. Whose w1 does step change?",
            "Let it take the address: Network *nn. What stands in place of the dot?",
            "nn->w1 -= 0.5f * nn->gradient; and main calls step(&nn).",
        ),
        starter=(CheckFailed, "prints '8' in line 1, and should print '7'"),
        mutants={
            "own_copy": Mutant(
                mistake="It takes a pointer, and changes a copy all the same.",
                edits=[
                    ("{ nn->w1 -=", "{ Network n = *nn; n.w1 -="),
                ],
                fails=(CheckFailed, "prints '8' in line 1"),
            ),
            "uphill": Mutant(
                mistake="It steps uphill.",
                edits=[("-=", "+=")],
                fails=(CheckFailed, "prints '9' in line 1"),
            ),
            "replaced": Mutant(
                mistake="The step takes the place of the weight.",
                edits=[("-=", "=")],
                fails=(CheckFailed, "prints '1' in line 1"),
            ),
        },
    ),
    ProgramExercise(
        id="01.3",
        name="bytes",
        title="Sizes that do not fit into an int",
        stars=2,
        cases=(
            Case(
                args=(1000, 1000),
                stdout="4000000\n",
                causes={
                    "1000000": "It counts the elements, not their bytes.",
                    "8000000": "An address has 8 bytes; a float has 4.",
                },
            ),
            Case(args=(50000, 50000), stdout="10000000000\n"),
            Case(
                args=(65536, 65536),
                stdout="17179869184\n",
                causes={
                    "0": "The product is 2^32, and an unsigned has 32 bits as well: "
                    "it starts again at 0, and no sanitizer says so.",
                },
            ),
            Case(
                args=(50001, 49999),
                stdout="9999999996\n",
                cause="A float is exact up to 2^24 alone. Bytes are counted in whole "
                "numbers.",
            ),
        ),
        hints=(
            "C computes from left to right. Which type has rows * cols?",
            "An int times an int is an int, whatever it is multiplied with later. One "
            "of the two factors of the first product must be wide.",
            "Begin with sizeof(float), which is a size_t: sizeof(float) * rows * cols.",
        ),
        starter=(CheckFailed, "signed integer overflow: 50000 * 50000"),
        mutants={
            "cast_too_late": Mutant(
                mistake="The product is converted after it has overflowed.",
                edits=[
                    ("sizeof(float) * rows * cols",
                     "static_cast<std::size_t>(rows * cols) * sizeof(float)"),
                ],
                fails=(CheckFailed, "signed integer overflow: 50000 * 50000"),
            ),
            "unsigned": Mutant(
                mistake="An unsigned int has one bit more, and overflows in silence.",
                edits=[
                    ("sizeof(float) * rows * cols",
                     "static_cast<unsigned>(rows) * cols * sizeof(float)"),
                ],
                fails=(CheckFailed, "prints '0' in line 1"),
            ),
            "size_of_a_pointer": Mutant(
                mistake="It counts the bytes of addresses.",
                edits=[("sizeof(float)", "sizeof(float *)")],
                fails=(CheckFailed, "prints '8000000' in line 1"),
            ),
            "in_float": Mutant(
                mistake="A float is large enough for the product, and not exact.",
                edits=[
                    ("sizeof(float) * rows * cols",
                     "static_cast<float>(rows) * cols * sizeof(float)"),
                ],
                fails=(CheckFailed, "A float is exact up to 2^24 alone"),
            ),
        },
    ),
    ProgramExercise(
        id="01.4",
        name="macro",
        title="A macro that computes something else",
        stars=1,
        cases=(
            Case(
                args=(4,),
                stdout="16\n25\n6\n",
                causes={
                    "6": "^ is no power in C: it compares bits, and sets those that "
                    "differ.",
                    "9": "The macro puts the text n + 1 where x stands, and then "
                    "the product comes before the sum.",
                    "100": "The macro's text stands behind 100 /, and C divides "
                    "and multiplies from left to right.",
                },
            ),
            Case(args=(1,), stdout="1\n4\n100\n"),
            Case(args=(-3,), stdout="9\n4\n11\n"),
        ),
        hints=(
            "Write SQUARE(n + 1) by hand: put n + 1 where x stands, letter by letter.",
            "n + 1 * n + 1: the product comes first. Brackets keep each x together.",
            "100 / SQUARE(n) needs brackets around the whole product too.",
        ),
        starter=(CheckFailed, "prints '9' in line 2, and should print '25'"),
        mutants={
            "no_outer": Mutant(
                mistake="The product itself has no brackets.",
                edits=[("((x) * (x))", "(x) * (x)")],
                fails=(CheckFailed, "prints '100' in line 3"),
            ),
            "no_inner": Mutant(
                mistake="The parameter has no brackets.",
                edits=[("((x) * (x))", "(x * x)")],
                fails=(CheckFailed, "prints '9' in line 2"),
            ),
            "power": Mutant(
                mistake="It takes ^ for a power.",
                edits=[("((x) * (x))", "((x) ^ 2)")],
                fails=(CheckFailed, "no power in C"),
            ),
            "one_of_two": Mutant(
                mistake="Only the first of the two has brackets.",
                edits=[("((x) * (x))", "((x) * x)")],
                fails=(CheckFailed, "prints '21' in line 2"),
            ),
        },
    ),
    ProgramExercise(
        id="01.b",
        name="total",
        title="The sum of a file",
        cases=(
            Case(
                args=(1, 2, 3.5),
                stdout="6.5\n",
                causes={
                    "0": "No value was added: fscanf stores it in value, and returns "
                    "how many it has read.",
                    "3.5": "Only the last value is left: it has replaced the sum, or "
                    "the loop ends before the line that adds.",
                    "SEGV": "fscanf stores at an address: value is a number, and "
                    "&value its address.",
                    "10": "The last value was added twice: the loop went on after a "
                    "read that found nothing.",
                    "1": "The first value alone was added.",
                    "limit": "At the end of the file fscanf returns a negative "
                    "number, which an if or a while takes for true.",
                },
            ),
            Case(args=(-4,), stdout="-4\n"),
            Case(args=(), stdout="0\n"),
        ),
        hints=(
            "fscanf returns the number of values that it has read: 1, or at the end of "
            "the file something else.",
            'while (std::fscanf(file, "%f", &value) == 1), and the next line adds. '
            "fscanf needs the address of value.",
        ),
        starter=(CheckFailed, "prints '0' in line 1, and should print '6.5'"),
        mutants={
            "until_the_end": Mutant(
                mistake="The end is seen only after a read has failed.",
                edits=[
                    ('    while (std::fscanf(file, "%f", &value) == 1)\n        sum',
                     '    while (!std::feof(file) &&\n'
                     '           std::fscanf(file, "%f", &value) < 9)\n        sum'),
                ],
                fails=(CheckFailed, "prints '10' in line 1"),
            ),
            "endless": Mutant(
                mistake="It goes on while fscanf returns anything but 0.",
                edits=[(" == 1)", ")")],
                fails=(CheckFailed, "At the end of the file fscanf returns"),
            ),
            "once": Mutant(
                mistake="It reads one value.",
                edits=[("while", "if")],
                fails=(CheckFailed, "prints '1' in line 1"),
            ),
            "empty_loop": Mutant(
                mistake="A semicolon makes the loop empty.",
                edits=[(" == 1)\n", " == 1);\n")],
                fails=(CheckFailed, "Only the last value is left"),
            ),
            "no_address": Mutant(
                mistake="The call gives fscanf the number, not its address.",
                edits=[("&value) == 1", "value) == 1")],
                fails=(CheckFailed, "fscanf stores at an address"),
            ),
        },
    ),
    ProgramExercise(
        id="01.c",
        name="halves",
        title="A sum that calls itself",
        cases=(
            Case(
                args=(3, 4),
                stdout="7.0\n",
                causes={
                    "null": "The call asks for more words than there are.",
                    "stack-overflow": "The calls never reach n == 1. Each part has "
                    "fewer numbers than the whole, and at least one.",
                    "3.0": "Only the first half was added.",
                    "4.0": "Only the second half was added.",
                    "6.0": "The first half was added twice.",
                },
            ),
            Case(args=(5,), stdout="5.0\n"),
            Case(
                args=(1, 2, 4, 8, 16, 32, 64),
                stdout="127.0\n",
                cause="Seven numbers have halves of three and of four: none may be "
                "forgotten.",
            ),
            Case(
                args=(16777216, 1, 1, 1),
                stdout="16777218.0\n",
                causes={
                    "16777219.0": "It adds in double. The starter's sum is a float, "
                    "where the order of the additions counts.",
                    "16777220.0": "It adds one number to the sum of all others. Two "
                    "halves have about the same length.",
                    "16777216.0": "A float has 24 bits, so each 1 that is added to "
                    "2^24 alone is lost. The sum of two ones is not.",
                },
            ),
        ),
        hints=(
            "The first half begins at words and has half numbers. Where does the "
            "second begin, and how many are left for it?",
            "return sum(words, half) + sum(words + half, n - half);",
        ),
        starter=(CheckFailed, "prints '1.0' in line 1, and should print '7.0'"),
        mutants={
            "never_stops": Mutant(
                mistake="Nothing stops the calls.",
                edits=[("    if (n == 1) return std::atof(words[0]);\n", "")],
                fails=(CheckFailed, "has no stack left"),
            ),
            "whole_again": Mutant(
                mistake="The first half gets the length of the whole.",
                edits=[("words, half", "words, n")],
                fails=(CheckFailed, "The calls never reach n == 1"),
            ),
            "odd": Mutant(
                mistake="Of an odd number of numbers the last is forgotten.",
                edits=[("n - half", "half")],
                fails=(CheckFailed, "none may be forgotten"),
            ),
            "too_many": Mutant(
                mistake="The second half gets the length of the whole.",
                edits=[("n - half", "n")],
                fails=(CheckFailed, "more words than there are"),
            ),
            "same_half": Mutant(
                mistake="The first half is added twice.",
                edits=[("words + half", "words")],
                fails=(CheckFailed, "prints '6.0' in line 1"),
            ),
            "loop": Mutant(
                mistake="One total grows over all numbers.",
                edits=[
                    ("    return sum(words, half) + sum(words + half, n - half);",
                     "    float total = 0 * half;\n    for (int i = 0; i < n; i++)\n"
                     "        total += std::atof(words[i]);\n    return total;"),
                ],
                fails=(CheckFailed, "A float has 24 bits"),
            ),
        },
    ),
    ProgramExercise(
        id="01.5",
        name="owner",
        title="A block with an owner",
        stars=2,
        cases=(
            Case(
                args=(3,),
                stdout="a copy is refused\n",
                cause="A copy would hold the same address, and free it a second time.",
            ),
            Case(args=(1000,), stdout="a copy is refused\n"),
        ),
        hints=(
            "The function that runs at the end of an object is the destructor. Its "
            "name is the class's, with a ~ in front.",
            "new float[n] needs delete[]. A copy would hold the same address, and free "
            "it again.",
            "~Block() { delete[] values_; } and Block(const Block &) = delete;",
        ),
        starter=(CheckFailed, "12 bytes that line"),
        mutants={
            "copies": Mutant(
                mistake="The copy is allowed.",
                edits=[("    Block(const Block &) = delete;\n", "")],
                fails=(CheckFailed, "prints 'a copy is allowed' in line 1"),
            ),
            "never_freed": Mutant(
                mistake="The destructor is empty.",
                edits=[("delete[] values_;", "")],
                fails=(CheckFailed, "12 bytes that line"),
            ),
            "one_for_many": Mutant(
                mistake="It frees an array as if it were one float.",
                edits=[("delete[] values_", "delete values_")],
                fails=(CheckFailed, "frees a block by another way"),
            ),
            "freed_twice": Mutant(
                mistake="It frees the block twice.",
                edits=[("delete[] values_;", "delete[] values_, delete[] values_;")],
                fails=(CheckFailed, "was freed before"),
            ),
        },
    ),
)  # fmt: skip
