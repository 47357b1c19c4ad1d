"""What the compiler says of an `asm` statement: pattern, likely cause, cure."""

from __future__ import annotations

ASM_RULES = (
    (
        r"asm output operand must have",
        "Operands behind the first colon of an asm are outputs, and are marked.",
        'Write = before the letter of an output, as in "=r"(value); inputs stand '
        "behind the second colon.",
    ),
    (
        r"asm operand may specify only one constraint|unknown asm constraint",
        "An operand of an asm has one letter for its register, and an output has = "
        "before the letter.",
        'Write "=r"(variable), or "=f"(variable) for a float, for an output; leave = '
        "out for an input.",
    ),
    (
        r"Arguments mismatch for instruction",
        "An operand of an asm has another type than its instruction takes.",
        'Give the letter of that type: "r" for 32 bits, "l" for 64, "f" for a float, '
        '"d" for a double.',
    ),
    (
        r"asm operand type size.* does not match",
        "The letter stands for a register of another kind or size than the variable.",
        'Give the letter of the variable: "r" for 32 bits, "l" for 64, "f" for a '
        'float, "d" for a double.',
    ),
    (
        r"asm operand index requested is larger",
        "The text of an asm names an operand, such as %1, that is not listed.",
        "List every operand behind the colons, and count from %0 on, outputs first.",
    ),
    (
        r"too many characters in character constant|expected an asm string",
        "In C++ single quotes hold one character.",
        'Write "text" in double quotes.',
    ),
)
