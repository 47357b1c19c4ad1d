"""What a compiler of C or C++ says, and what it means to who knows Python better."""

from __future__ import annotations

import re

# What a message says, and what it means: (pattern, likely cause, what to do).
# The line of the message comes first, then a newline and the text of the message.
IN_LINE = (
    (
        r"#define \w+\([^)]*\)\s*=",
        "All that stands behind a macro's name is its text, the = too.",
        "Leave out the =.",
    ),
    (
        r"#define \w+\(\w+ +\w",
        "A macro knows no types: it replaces text by text.",
        "For a parameter write the name alone.",
    ),
    (
        r"#define .*\breturn\b",
        "A macro is text that is put in place of its name. It is no function, and "
        "returns nothing.",
        "Leave out return, and the semicolon.",
    ),
    (
        r"#define \w+ \(.*\n.*was not declared",
        "A space ends the name of a macro: what follows is its text, and no parameter.",
        "Write the bracket right behind the name, without a space.",
    ),
    (
        r"#define .*;\s*\n",
        "The semicolon at the end of a macro belongs to its text, and is put into "
        "each line that uses it.",
        "Remove the semicolon from the #define.",
    ),
    (
        r"\*\*.*\n.*unary '\*'",
        "C and C++ have no operator ** for powers: the second star asks for what lies "
        "at an address.",
        "Write a square as a product, x * x.",
    ),
    (
        r"\w\[[^\]:?]*:(?!:)[^\]:]*\].*\n",
        "C and C++ have no slices, as Python has.",
        "A part begins at the address p + k; tell its number of elements as well.",
    ),
    (
        r"\bfor \(\w+ : .*\n",
        "A loop over elements needs a type, and an array or a container.",
        "Write for (float value : values); read a file with while.",
    ),
    (
        r"static_cast<[^<>]+> *[^( ].*\n.*expected '\('",
        "The value of a cast stands in brackets.",
        "Write static_cast<float>(x).",
    ),
    (
        r"\b(True|False|None)\b.*\n.*'\1'",
        "True, False and None: each is a word of Python.",
        "C++ writes true, false and nullptr.",
    ),
    (
        r"^ *(?P<name>\w+) = .*\n(?!.*did you mean).*'(?P=name)'"
        r"(?: was not declared| undeclared)",
        "The name is misspelt, or this is its first use: then it needs a type.",
        "Write the type in front, as in int {name} = ...;",
    ),
)
ADVICE = (
    (
        r"request for member '(?P<m>\w+)' in '(?P<v>[^']+)', which is of pointer type",
        "{v} is a pointer. A dot takes a member of a struct itself.",
        "Write an arrow: {v}->{m}.",
    ),
    (
        r"member reference type '.*\*' is a pointer",
        "A dot takes a member of a struct itself, and this is a pointer to one.",
        "Write an arrow, ->, in place of the dot.",
    ),
    (
        r"base operand of '->' has non-pointer type|invalid type argument of '->'"
        r"|member reference type '.*' is not a pointer",
        "An arrow follows a pointer, and this is the struct itself.",
        "Write a dot in place of the arrow.",
    ),
    (
        r"invalid conversion from '(?:const )?void ?\*' to",
        "A void* says where, and not what lies there. C converts it silently; C++ "
        "asks for a cast.",
        "Cast it: static_cast<float *>(p).",
    ),
    (
        r"invalid conversion from '.*\*' to '(?:unsigned )?\w+'"
        r"|invalid conversion from '\w+' to '.*\*'"
        r"|makes (?:integer|pointer) from|incompatible (?:pointer|integer)",
        "An address stands where a value belongs, or a value where an address does.",
        "*p is the value at an address, and &x is the address of a value.",
    ),
    (
        r"(?:cannot convert|could not convert '.*' from) '(?P<a>[^'*]+)' to "
        r"'(?P<b>[^'*]+)'",
        "The types differ: {a} is given, and {b} is needed.",
        "Compare the order of the arguments with the function's; or make a {b}.",
    ),
    (
        r"(?:cannot convert|could not convert '.*' from) '(?P<a>[^']+)' to "
        r"'(?P<b>[^']+)'",
        "The types differ: {a} is given, and {b} is needed.",
        "Count the stars: *p and p[i] take one off, and &x adds one.",
    ),
    (
        r"invalid operands of types? .* to binary '(?:operator)?\*'",
        "A star between two values is a product. Perhaps the line above lacks its "
        "semicolon, and goes on here.",
        "End the line above with a semicolon.",
    ),
    (
        r"to binary '(?:operator)?\^'",
        "In C++ ^ is the exclusive or of two whole numbers. There is no operator for "
        "powers.",
        "Write a square as a product, x * x.",
    ),
    (
        r"invalid type argument of unary '\*'"
        r"|no match for 'operator\*' \(operand type is",
        "A star asks for what lies at an address, and this is no pointer.",
        "Remove the star; &x is the address of x.",
    ),
    (
        r"no match for 'operator",
        "There is no such operator for these types.",
        "Name the member or the element that you mean, as in pair.first or x[i].",
    ),
    (
        r"no matching function for call",
        "There are functions of this name, and none takes these arguments.",
        "Compare their number, order and types; x.begin() is an iterator, and x is "
        "none.",
    ),
    (
        r"redeclaration of|redefinition of '(?!(?:struct|class)\b)[^'(]*'$",
        "A variable of this name is declared above.",
        "Leave out the type, to assign to it; or take another name.",
    ),
    (
        r"lvalue required as left operand|expression is not assignable",
        "On the left of = stands a place that holds a value: a variable, *p or p[i].",
        "To store at an address, write *p = ...; to compare, write ==.",
    ),
    (
        r"was not declared|undeclared|does not name a type|unknown type name"
        r"|is not a member of 'std'|implicit declaration",
        "The name is misspelt, declared further down, or its header is not included.",
        "Compare the spelling; add the #include that declares it.",
    ),
    (
        r"expected primary-expression before '[,)]'",
        "Before this place a value is missing, or the name of a type stands in its "
        "place.",
        "Write the value; an object of a type is made by braces, as in Square{}.",
    ),
    (
        r"expected '[;,)]'|expected '}'|expected .*primary-expression",
        "Something is missing before this place, often a semicolon or a bracket.",
        "Look at the end of the line above.",
    ),
    (
        r"too (?:few|many) arguments",
        "The call and the declaration have different numbers of parameters.",
        "Compare the call with the first line of the function.",
    ),
    (
        r"return type specification for destructor"
        r"|destructors? (?:may not|cannot) have",
        "A destructor has neither a type nor parameters: nobody calls it by hand.",
        "Begin with ~ and the name of the class, and leave the brackets empty.",
    ),
    (
        r"expected class-name before|expected the class name after '~'",
        "A destructor is called ~ and the name of its class, letter by letter.",
        "Compare capitals and small letters.",
    ),
    (
        r"invalid constructor; you probably meant '\w+ \((?P<type>.*)\)'",
        "To pass the argument, it would have to be copied, and this is the function "
        "that copies.",
        "Take it by reference: {type}.",
    ),
    (
        r"argument given to 'delete', expected pointer|cannot delete expression",
        "delete takes the address that new returned.",
        "Give it the pointer, without an index.",
    ),
    (
        r"use of deleted function '.*::~",
        "The destructor is forbidden, so no object of the class could end.",
        "Give it a body, { ... }, in place of = delete.",
    ),
    (
        r"use of deleted function",
        "A class forbids the copy that this line makes.",
        "Pass it by reference, or move it with std::move.",
    ),
    (
        r"assignment of read-only|in read-only object|discards qualifiers|from 'const",
        "The value is const: it may be read, and not written.",
        "Write to another variable, or take away the const if you own the value.",
    ),
)
# Warnings that a few words explain.
WARNED = (
    (
        r"this '\w+' clause does not guard",
        "a semicolon right behind its brackets, or lines without braces",
    ),
    (
        r"format '%\w+' expects argument of type '.*\*'.*has type '[^*]*'$",
        "it takes an address, as in &x",
    ),
    (
        r"parentheses around assignment used as truth value",
        "= stores, and == compares",
    ),
)
IN_A_TEMPLATE = (
    "A template of a library cannot work with what this line gives it.",
    "Compare the types of the arguments: x.begin() is an iterator, and x is none.",
)
OTHERWISE = (
    "The compiler stops at the first place that makes no sense to it.",
    "Correct this line first; later messages often follow from the first.",
)


def advice(text: str, line: str) -> tuple[str, str]:
    """Return the likely cause of an error, and what to do.

    Parameters
    ----------
    text : str
        What the compiler says.
    line : str
        The line of the source that it names, or nothing.
    """
    for pattern, cause, cure in IN_LINE:
        match = re.search(pattern, f"{line}\n{text}")
        if match:
            return cause, cure.format(**match.groupdict())
    for pattern, cause, cure in ADVICE:
        match = re.search(pattern, text)
        if match:
            names = match.groupdict()
            return cause.format(**names), cure.format(**names) if names else cure
    return OTHERWISE


def explained(warning: str) -> str:
    """Return a compiler's warning, with a few words on the usual ones."""
    warning = warning.rstrip(".")
    for pattern, words in WARNED:
        if re.search(pattern, warning):
            return f"{warning}: {words}"
    return warning
