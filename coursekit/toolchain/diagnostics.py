"""The compiler's messages, explained for students.

A message keeps file, line, source line and caret as the compiler gives them,
and adds the likely cause and a cure from a table.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field

from coursekit.errors import CompileError
from coursekit.toolchain import mangling
from coursekit.toolchain.asm_rules import ASM_RULES
from coursekit.toolchain.missing_names import (
    header_advice,
    header_of,
    library_advice,
    std_advice,
)
from coursekit.toolchain.sources import Source
from coursekit.toolchain.undefined_names import undefined

SHOWN = 4  # messages in full; the rest is counted

_HEAD = re.compile(
    r"^(?:(?P<file>\S.*?)\((?P<line>\d+)\)|At end of source): "
    r"(?P<severity>(?:catastrophic )?error|warning|note|remark)"
    r"(?: #[\w-]+)?: (?P<message>.*)$"
)
# A note on each operator that does not fit says nothing new.
_TRIED = re.compile(r'built-in operator|function ".*operator.*does not match')
# Nor does a list of all the functions in a header that would fit.
_LISTED = re.compile(
    r'^\s+(?:function ".*" \(declared at line \d+ of /.*\)|built-in operator ".*")$'
)
_PTXAS = re.compile(r"^\s*ptxas (?:.*?; )?(?:error|fatal)\s*: (?P<message>.*)$")

_HOST_FUNCTIONS = (
    r"cuda[A-Z]\w*|malloc|free|new|fopen|fclose|fprintf|sprintf|snprintf|scanf|puts|"
    r"putchar|getchar|stderr|stdout|rand|srand|exit|abort|atexit|time|getenv|atoi|atof|"
    r"qsort|calloc|realloc|str(?:len|cmp|ncmp|cpy|ncpy|cat)|memcmp|memmove|memchr|"
    r"gettimeofday|usleep|sleep|system"
)

_LANES = (
    "A float4 is no number and no array: it has four parts, x, y, z and w. A float2 "
    "has x and y.",
    "Name the part, as in q.x; to store all of them, write through a float4 *.",
)
_PAIR = (
    "A float2 is no number: it has two parts, x and y, and C++ has no operators for "
    "it.",
    "Compute with its parts, as in a.x + b.x, or call a function that takes it whole.",
)
# (pattern of the message, likely cause, cure); more telling rules come first.
_RULES = (
    *ASM_RULES,
    (
        r"__launch_bounds__ is not a template",
        "__launch_bounds__ takes its numbers in round brackets.",
        "Write for example __launch_bounds__(256, 2).",
    ),
    (
        r"has already been declared in the current scope",
        "A parameter or a line above declares this name.",
        "To give it another value, leave out the type; else choose another name.",
    ),
    (
        r'conversion function from "(?:const )?__(?:half|nv_bfloat16)2"|'
        r'exists to convert .* to "__(?:half|nv_bfloat16)2"',
        "Such a value holds two halves in one word, and C++ converts it to no number, "
        "nor a number to it.",
        "Take one by __low2half(pair) or __high2half(pair), make a pair by "
        "__floats2half2_rn(a, b), or read its word: *(const unsigned *)&pair.",
    ),
    (
        rf'^identifier "(?:{_HOST_FUNCTIONS})" is undefined',
        "That is a function for the host; this source is compiled for the GPU alone.",
        "Keep only kernels and __device__ functions here; allocate and launch from "
        "Python.",
    ),
    (
        r'^identifier "(?:cout|cerr|clog|cin|endl|string|vector)" is undefined',
        "That belongs to the host's C++ library; this source is compiled for the GPU.",
        "Print with printf, which needs no #include; pass arrays from Python.",
    ),
    (
        r"could not open source file|cannot open source file",
        "The header is neither beside this file, nor below kernels/, nor CUDA's.",
        "Check the name in #include; a header of your own goes beside the file.",
    ),
    (
        r"name must be a namespace name|name followed by .::. must be",
        "No header that is included here declares this namespace.",
        "Include its header: <mma.h> for nvcuda, <cuda/std/...> for cuda::std, "
        "<cub/...> for cub.",
    ),
    (
        r'namespace "std" has no member|"std"',
        "The C++ standard library (std::vector, std::cout, ...) is for the host; "
        "device code has none.",
        "Use plain arrays and CUDA's functions, or cuda::std from <cuda/std/...>.",
    ),
    (
        r"a __global__ function must have a void return type",
        "A kernel is run by thousands of threads: there is no one value to return.",
        "Write __global__ void, and store results through a pointer parameter.",
    ),
    (
        r"considered a host function|explicitly marked as a __host__ function",
        "A function without __global__ or __device__ would run on the host; here only "
        "the GPU's code is compiled. That goes for main, too.",
        "Write __device__ before a function that kernels call, and __global__ before "
        "a kernel; leave main out: Python launches.",
    ),
    (
        r'^identifier "[ijk]" is undefined',
        "No declaration of the index holds here: none stands above, or it belongs to "
        "a loop that has ended.",
        "Declare it with its type at its first use: int i = ...;",
    ),
    (
        r'^identifier ".*" is undefined',
        "The name is misspelt, or declared later, or lives in a header.",
        "Declare it above its first use, or include the header that has it.",
    ),
    (
        r"texture is not a template",
        "CUDA 12 has removed texture references such as texture<float, 1>.",
        "Read through a pointer, const float* __restrict__; or take a "
        "cudaTextureObject_t as a parameter.",
    ),
    (
        r"cub/cub\.cuh|Including <cub/",
        "<cub/cub.cuh> has parts that the host launches; here only the GPU's code is "
        "compiled.",
        "Include the part that the kernel uses, such as <cub/block/block_reduce.cuh>.",
    ),
    (
        r'conversion function from "(?:const )?(?:float|double|u?int)[24]"',
        *_LANES,
    ),
    (
        r"reinterpret_cast cannot cast away const",
        "The pointer is const, for reading only, and the cast would take that away.",
        "Cast to a pointer to const, such as const float4 *.",
    ),
    (
        r"^invalid type conversion",
        "This kind of cast does not convert between these two types.",
        "Values are converted by static_cast; to see the same memory as another type, "
        "write reinterpret_cast<const float4 *>(x).",
    ),
    (
        r'constructor exists to convert .* to "(?:float|double|u?int)[24]"',
        "C++ makes no float4 from one number: it has four parts.",
        "To make one, write make_float4(a, b, c, d); to load four neighbours, read "
        "through a const float4 *.",
    ),
    (
        r"user-defined literal operator not found",
        "Letters follow a number at once, as in 3x: C++ reads the two as one word.",
        "Write the sign of a product: 3 * x.",
    ),
    (
        r"unrecognized token",
        "A character is not part of C++: a letter with an accent, a curly quote, a "
        "dash that is not a minus sign.",
        "Type it again with plain letters and signs; comments may hold anything.",
    ),
    (
        r"considered a host variable",
        "A variable outside all functions belongs to the host unless marked.",
        "Write __device__ or __constant__ before it; constexpr for a constant.",
    ),
    (
        r"__global__ function call must be configured|device-side kernel launch|"
        r"a __device__ function call cannot be configured|<<<",
        "A kernel is launched from the host, and this source is device code alone.",
        "Launch from Python: kernel[grid, block](...); call a __device__ function.",
    ),
    (
        r'^expected a "\("',
        "A parenthesis is missing. In C++ the condition of an if or a loop stands in "
        "parentheses, without a colon after it.",
        "Write if (i < n), and braces around the lines that it guards.",
    ),
    (
        r'expected an? "?;"?',
        "A statement ends with a semicolon; the one before the caret has none.",
        "Look at the end of the line before, and add the semicolon.",
    ),
    (
        r'expected a "[)\]}]"|unmatched|at end of source',
        "A bracket was opened and never closed.",
        "Close it; an editor that marks pairs of brackets shows which one is alone.",
    ),
    (
        r'of type "[^"]*\*" cannot be assigned to an entity of type "[^"]*\*"',
        "Without an index the name of an array is an address, not an element; and "
        "an address of const values does not go into a pointer that may write.",
        "For an element write its index, out[i] = a[i]; else make the pointer const.",
    ),
    (
        r"must have (?:arithmetic|integral)[\w ]* type",
        "The operator does not take an operand of this type: [], %, <<, >>, &, | and "
        "^ take whole numbers.",
        "Convert the operand, as in (int)x. For the remainder of floats, write "
        "fmodf(x, y); for the bits of a float, __float_as_uint(x).",
    ),
    (
        r'operand of "\*" must be a pointer',
        "A number stands to the right of this *, not a pointer. C++ has no operator "
        "** for powers.",
        "Write a square as x * x, and another power as powf(x, y).",
    ),
    (
        r'^no operator ".*" matches these operands|from "const (?:uint3|dim3)"',
        "The operator does not exist for these types.",
        "Compare the types that the message names with what you meant.",
    ),
    (
        r"more than one (?:conversion function|operator)",
        "Several conversions of an operand fit, and none is better than the others.",
        "Convert the operand yourself, for example with float(x).",
    ),
    (
        r"return value type does not match",
        "The type of the value differs from the function's. A void function, such as "
        "a kernel, returns no value.",
        "In a kernel, store the result through a pointer, as in out[i] = ...;",
    ),
    (
        r"expression preceding parentheses of apparent call",
        "A name before a bracket is read as a call, and this name is no function.",
        "To multiply, write the sign: s * (...).",
    ),
    (
        r"must have pointer-to-object type",
        "One number has no elements: the name is no array, or here are more indices "
        "than the array has.",
        "Leave out the index of a number. Rows of a matrix lie one behind the other: "
        "write a[row * cols + col].",
    ),
    (
        r'conversion function from "const (?:uint3|dim3)"',
        "threadIdx, blockIdx, blockDim and gridDim have three numbers each: x, y, z.",
        "Write which one you mean, for example threadIdx.x.",
    ),
    (
        r'^no operator "[^"]*" matches these operands',
        "An operand is no number: threadIdx, blockIdx, blockDim or gridDim without its "
        ".x, or an object of another type.",
        "Look at the operand types; write for example threadIdx.x.",
    ),
    (
        r'value of type "[^"*]*" cannot be assigned to an entity of type "[^"]*\*"',
        "The left side is a pointer, which holds an address, and the right side is a "
        "number.",
        "Move a pointer on by p += number. Store where it points by p[i] = number.",
    ),
    (
        r"cannot be assigned|must be a modifiable lvalue|expression must be modifiable",
        "The left side is const: a pointer to const is for reading only.",
        "Remove const from the parameter if the kernel writes to it.",
    ),
    (
        r"declaration is incompatible with previous",
        "One name is declared with two types. An extern __shared__ array is one name "
        "for all kernels of a source.",
        "Give each array a name of its own.",
    ),
    (
        r"a value of type .* cannot be used to initialize|is incompatible with",
        "The types on both sides differ, and C++ does not convert one to the other.",
        "Convert it yourself, for example with (float)x, or change the declaration.",
    ),
    (
        r"more than one instance of overloaded function",
        "The function exists for several types, and none is that of the arguments: "
        "often an int, where the function takes a float or a double.",
        "Convert the argument, as in sqrtf(2.0f) or sqrt((float)n).",
    ),
    (
        r"too (?:few|many) arguments in function call|no instance of",
        "The function takes other arguments than those given.",
        "Compare the call with the function's declaration.",
    ),
    (
        r"expression must have a constant value",
        "An array in a kernel needs a size that is known when it compiles.",
        'Use constexpr or defines={"TILE": 16}; or extern __shared__ with the size '
        "given at the launch.",
    ),
    (
        r"uses too much shared data",
        "Shared memory declared in the kernel is limited to 48 KiB per block.",
        "Make the array smaller, or declare it extern __shared__ and give its bytes "
        "at the launch.",
    ),
    (
        r"the #endif for this directive is missing",
        "An #if begins a part of the text, and nothing ends it.",
        "Write #endif on a line of its own behind the part.",
    ),
    (
        r"attributes are not permitted in a function definition",
        "Something stands between the parameters of a function and its body.",
        "Write __launch_bounds__(...) between __global__ and the kernel's name.",
    ),
    (
        r"Not a name of any known instruction|Unknown symbol|Ptx assembly aborted",
        "The text in an asm statement is not an instruction of this architecture.",
        "Compare it with the PTX manual, or compile for another arch.",
    ),
    (
        r"unrecognized option|invalid value for|unknown option",
        "The compiler does not know the option, or the architecture.",
        "See NVRTC's list of options; the architecture goes into arch=.",
    ),
)
_UNEXPLAINED = (
    "The compiler cannot read the text from here on; the mistake is at the caret or "
    "just before it.",
    "Fix the first message, and compile again: the others often go with it.",
)


@dataclass(slots=True)
class Message:
    """One message of the compiler.

    Attributes
    ----------
    file, line : str or None, int or None
        Place; None where the compiler gives none.
    severity, message : str
        "error", "warning", ... and the text.
    quoted : list of str
        Source line, caret and notes, as given.
    """

    file: str | None
    line: int | None
    severity: str
    message: str
    quoted: list[str] = field(default_factory=list)

    @property
    def is_error(self) -> bool:
        return "error" in self.severity

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}: " if self.line else ""
        if self.file and not self.line:
            place = f"{self.file}: "
        return "\n".join([place + self.message, *self.quoted])


def messages(log: str, source: Source) -> list[Message]:
    """Read a compiler log, with file names as `source` shows them."""
    found: list[Message] = []
    muted = False
    for line in log.splitlines():
        head = _HEAD.match(line)
        ptxas = _PTXAS.match(line)
        if head is not None and head["severity"] == "note" and found:
            muted = bool(_TRIED.search(head["message"]))
            if muted:
                continue
            place = f"{source.display(head['file'])}:{head['line']}: "
            found[-1].quoted.append(f"  {place}note: {head['message']}")
            if found[-1].line is None:
                found[-1].line = int(head["line"])
        elif head is not None:
            muted = False
            file = source.display(head["file"]) if head["file"] else source.name
            number = int(head["line"]) if head["line"] else None
            text = head["message"].partition(" Consider using -default-device")[0]
            found.append(Message(file, number, head["severity"], text))
        elif ptxas is not None:
            text = _without_mangling(ptxas["message"])
            found.append(Message(source.name, None, "error", text))
        elif line.startswith("nvrtc: error: "):
            text = line.removeprefix("nvrtc: error: ")
            found.append(Message(source.name, None, "error", text))
        elif muted or not found or not line.strip() or _LISTED.match(line):
            continue
        elif line.startswith("  "):
            found[-1].quoted.append(line)
    return found


def _without_mangling(text: str) -> str:
    """Replace mangled kernel names and ptxas's byte counts by readable ones."""

    def demangled(found: re.Match[str]) -> str:
        try:
            return f"'{mangling.function(found[1]).name}'"
        except mangling.UnknownMangling:
            return found[0]

    text = re.sub(r"'(_Z\w+)'", demangled, text)
    return re.sub(r"0x[0-9a-f]+ (?=bytes|max)", lambda m: f"{int(m[0], 16)} ", text)


def compile_error(log: str, source: Source) -> CompileError:
    """Turn the log of a failed compilation into the error that students see.

    The error has the attributes `file`, `line`, `log` and `count`.
    """
    errors = _distinct([m for m in messages(log, source) if m.is_error])
    if not errors:
        errors = [Message(source.name, None, "error", log.strip() or "no message")]
    telling, cause, cure = _explanation(errors, source)
    errors.sort(key=lambda found: found is not telling)  # that one first
    shown = "\n".join(str(found) for found in errors[:SHOWN])
    if len(errors) > SHOWN:
        shown += f"\nand {len(errors) - SHOWN} more, in .log"
    if len(errors) > 1:
        shown += f"\n{len(errors)} errors."
    error = CompileError.explained(shown.replace("\n", "\n  "), cause, cure)
    error.file, error.line = telling.file, telling.line
    error.log, error.count = source.with_display_names(log), len(errors)
    return error


def _distinct(errors: list[Message]) -> list[Message]:
    """Leave out what is said again of the same place: each byte of a character."""
    return list({str(error): error for error in errors}.values())


def _explanation(errors: list[Message], source: Source) -> tuple[Message, str, str]:
    """Choose the most telling message on the first message's line."""
    first = errors[0]
    if first.file is not None and (advice := library_advice(first.file)):
        return first, *advice
    ranked = []
    for found in errors:
        if found.line != first.line:
            continue
        for rank, (pattern, cause, cure) in enumerate(_RULES):
            if re.search(pattern, found.message, re.IGNORECASE):
                ranked.append((rank, found, cause, cure))
                break
    if not ranked:
        return first, *_specific(first, source, *_UNEXPLAINED)
    _, telling, cause, cure = min(ranked, key=lambda item: item[0])
    return telling, *_specific(telling, source, cause, cure)


def _specific(found: Message, source: Source, cause: str, cure: str) -> tuple[str, str]:
    """Sharpen the explanation with the names in the message."""
    if "must have integral" in found.message and _is_directive(found):
        return _WHOLE_NUMBERS
    if _BITS.search(found.message) and _is_power(found):
        return _NO_POWER
    if header := re.search(r'open source file "([^"]+)"', found.message):
        return header_advice(header[1])
    if found.file is not None and found.file.startswith("thrust/"):
        return _THRUST
    if found.message == 'expected a ";"' and found.line and found.file == source.name:
        return _semicolon(found, source, cause, cure)
    if _TRIPLE.search("\n".join([found.message, *found.quoted])):
        return _PARTS
    vector = _VECTOR.search("\n".join([found.message, *found.quoted]))
    if vector:
        return _PAIR if vector[0].endswith("2") else _LANES
    if half := _SMALL_FLOAT.search("\n".join([found.message, *found.quoted])):
        return _converted(half["type"])
    if atomic := _ATOMIC_OF_VALUE.search("\n".join([found.message, *found.quoted])):
        return _address_for(atomic["name"], found)
    if _WANTS_ONE.search(found.message) and _names_array(found, source):
        return _WHOLE_ARRAY
    if found.message == "expected an expression" and _word_at_caret(found) == "asm":
        return _NO_VALUE
    if name := re.match(r'"(\w+)" has already been declared', found.message):
        return f"{name[1]} is declared already, by a parameter or a line above.", (
            f"Write {name[1]} = ...; without a type to change it, or another name."
        )
    if found.message == "unrecognized token":
        return _character(found, cause, cure)
    if member := re.search(r'namespace "std" has no member.* "(\w+)"', found.message):
        return cause, std_advice(member[1]) or cure
    if "must be a" in found.message and "namespace" in found.message:
        needed = header_of(_word_at_caret(found))
        return cause, f"Write #include {needed} at the top." if needed else cure
    name = re.search(r'identifier "(\w+)" is undefined', found.message)
    if name is None or "host" in cause:
        return cause, cure
    if include := header_of(name[1]):
        cause = f"{include} declares {name[1]}, and is not included."
        return cause, f"Write #include {include} at the top."
    return undefined(name[1], _at_caret(found), source.text) or (cause, cure)


_THRUST = (
    "Thrust's vectors and algorithms are for the host, which launches their kernels; "
    "only the GPU's code is compiled here.",
    "Remove the #include; sort and sum from Python, for example by torch, or write "
    "the kernel.",
)

_WANTS_ONE = re.compile(
    r'unscoped enum type|"[\w ]+ \*" is incompatible with parameter of type "\w+"$'
)
_NO_VALUE = (
    "asm is a statement and has no value.",
    'Name the variable behind its first colon, as in "=r"(variable).',
)

_WHOLE_NUMBERS = (
    "The preprocessor computes with whole numbers only.",
    "Write one. __CUDA_ARCH__ is 800 for 8.0, and 1000 for 10.0.",
)

_BITS = re.compile(r"must have (?:arithmetic|integral)[\w ]* type")
_NO_POWER = (
    "In C++ ^ is the exclusive or of two whole numbers. There is no operator for "
    "powers.",
    "Write a square as x * x, and another power as powf(x, y).",
)


def _is_power(found: Message) -> bool:
    """Whether ^ is the only operator of the quoted line that takes whole numbers."""
    text = found.quoted[0] if found.quoted else ""
    return "^" in text and re.search(r"%|<<|>>|&|\|", text) is None


def _is_directive(found: Message) -> bool:
    return any(line.lstrip().startswith("#") for line in found.quoted)


_WHOLE_ARRAY = (
    "Without an index the name of an array is an address. C++ has no arithmetic with "
    "whole arrays.",
    "Compute with one element, as in a[i].",
)

_ATOMIC_OF_VALUE = re.compile(
    r'^no instance of overloaded function "(?P<name>atomic[A-Z]\w*)".*\n'
    r"\s*argument types are: \((?:const )?\w[\w ]*,",
)


def _address_for(name: str, found: Message) -> tuple[str, str]:
    """Say that an atomic takes an address, with the value that stands at the caret."""
    call = re.search(rf"{name}\(\s*(\*?)([\w.\[\]]+)\s*,", "\n".join(found.quoted))
    cause = f"{name} takes an address; the first argument here is a value."
    if call is None:
        return cause, "Write & before the element, for example &total[0]."
    return cause, f"Write {call[2] if call[1] else '&' + call[2]}."


_TRIPLE = re.compile(
    r"^(?:no suitable conversion.*|\s*operand types are:.*)\bconst (?:uint3|dim3)\b",
    re.MULTILINE,
)
_PARTS = (
    "threadIdx, blockIdx, blockDim and gridDim have three parts each: x, y and z.",
    "Name the part, for example threadIdx.x.",
)


_VECTOR = re.compile(
    r"^\s*operand types are:.*\b(?:float|double|u?int)[24]\b", re.MULTILINE
)


_SMALL_FLOAT = re.compile(
    r"^(?:more than one conversion function.*|\s*operand types are:.*)"
    r"\b(?P<type>__half|__nv_bfloat16)\b",
    re.MULTILINE,
)
_TO_FLOAT = {"__half": "__half2float", "__nv_bfloat16": "__bfloat162float"}


def _converted(type: str) -> tuple[str, str]:
    """Say how a number of 16 bits becomes a float."""
    return (
        f"A {type} meets a number of another type, and C++ does not choose between the "
        "conversions.",
        f"Convert it yourself, as in {_TO_FLOAT[type]}(x[i]).",
    )


def _at_caret(found: Message) -> str:
    """Return the rest of the quoted line, from the caret on."""
    text, caret = (*found.quoted, "", "")[:2]
    return text[caret.find("^") :] if "^" in caret else ""


def _word_at_caret(found: Message) -> str:
    word = re.match(r"\w+", _at_caret(found))
    return word[0] if word else ""


def _names_array(found: Message, source: Source) -> bool:
    """Whether the word at the caret is a pointer or an array, and has no index."""
    word = _word_at_caret(found)
    if _at_caret(found).removeprefix(word).lstrip().startswith("["):
        return False
    declared = rf"\*\s*(?:__restrict__\s+|const\s+)*{word}\s*[,);=]|\w\s+{word}\s*\["
    return bool(word) and re.search(declared, source.text) is not None


def _character(found: Message, cause: str, cure: str) -> tuple[str, str]:
    """Name the character that is no part of C++."""
    character = _at_caret(found)[:1]
    if not character or character.isascii():
        return cause, cure
    if character == "\ufeff":
        cause = "A byte order mark begins the file; the compiler cannot read it."
        return cause, "Save it as UTF-8 without a byte order mark (BOM)."
    name = unicodedata.name(character, "no printable character").lower()
    cause = f"{character!r} ({name}) is not part of C++ outside comments and strings."
    return cause, cure


# Behind // stands code with a semicolon of its own.
_QUOTIENT_IN_PYTHON = re.compile(r"\w\s*//\s*[\w(][^/;]*;")


def _side_by_side(word: str) -> tuple[str, str] | None:
    """Return what a word means that follows a value in the same statement."""
    if not word:
        return None
    if word == "if":
        return (
            "In C++ if begins a statement; it does not choose between two values.",
            "Write condition ? a : b for a value.",
        )
    return (
        f"{word} follows a value, and nothing joins the two.",
        "Write the operator between them, or the semicolon.",
    )


def _semicolon(
    found: Message, source: Source, cause: str, cure: str
) -> tuple[str, str]:
    """Point at the line before if the caret stands at the start of its line."""
    text, caret = (*found.quoted, "", "")[:2]
    given = source.text.split("\n")[: (found.line or 1) - 1]
    before = [re.sub(r"//.*", "", line).strip() for line in given]
    code = [(n, line) for n, line in enumerate(before, 1) if line]
    if text[: caret.find("^")].strip():
        return _side_by_side(_word_at_caret(found)) or (cause, cure)
    if not code:
        return cause, cure
    number, line = code[-1]
    if _QUOTIENT_IN_PYTHON.search(given[number - 1]):
        return (
            f"In C++, // begins a comment: of line {number} is left  {line}",
            "Write a / b: of whole numbers it drops the rest.",
        )
    return f"Line {number} has no semicolon at its end:  {line}", cure
