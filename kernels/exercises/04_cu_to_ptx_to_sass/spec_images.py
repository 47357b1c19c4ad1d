"""Chapter 04b: pieces about images for many GPUs, and the driver API by hand."""

import ctypes

import numpy as np

import coursekit as ck
from coursekit.errors import ArgumentError, CheckFailed, CompileError
from coursekit.exercises import Exercise, HostExercise, Mutant, blank, shuffled

# ---------------------------------------------------------------- 04.g


def small_numbers(n, generator):
    """Return what sum_each_warp takes."""
    x = shuffled(n, generator).astype(np.uint32)
    return {"x": x, "y": blank(n, np.uint32), "n": n}


def sums_of_warps(v):
    """Return the sum of each 32 values, for each of them."""
    padded = np.append(v.x, np.zeros(-v.x.size % 32, np.int64))
    return np.repeat(padded.reshape(-1, 32).sum(axis=1), 32)[: v.x.size]


def on_each(kernel):
    """Compile for older and newer architectures, and look at the PTX."""
    source = kernel.module.source
    try:
        older = ck.compile(source, arch="compute_75").ptx
    except CompileError as error:
        raise CheckFailed.explained(
            f"For compute capability 7.5 the cell does not compile: {error.what}",
            "The instruction is there from 8.0 on. __CUDA_ARCH__ has three digits or "
            "four: it is 750 for 7.5, 800 for 8.0, 1000 for 10.0.",
            "Let the preprocessor leave the call out where __CUDA_ARCH__ is less than "
            "800.",
        ) from None
    for capability in "9.0", "8.0":
        arch = capability.replace(".", "")
        if "redux.sync" not in ck.compile(source, arch=f"compute_{arch}").ptx:
            raise CheckFailed.explained(
                f"The PTX for compute capability {capability} has no redux.sync.",
                "The shuffles are compiled there, too: the condition is false for "
                f"{arch}0 (a misspelt macro counts as 0), or the call stands behind a "
                "return.",
                "Let the condition hold from 8.0 on: __CUDA_ARCH__ is 800 there.",
            )
    if "redux.sync" in older or "shfl.sync" not in older:
        raise CheckFailed.explained(
            "The PTX for compute capability 7.5 has no shuffles.",
            "The old way of the sum was removed.",
            "Keep it behind #else.",
        )


# ---------------------------------------------------------------- 04.4

FATS = (
    ((80,), (80,), 80, ("sm", 80), "the very architecture"),
    ((80,), (), 86, ("sm", 80), "the same generation, a later chip"),
    ((80, 86), (), 89, ("sm", 86), "two that fit: the newest of them"),
    ((86,), (), 80, None, "the same generation, an earlier chip"),
    ((80,), (), 90, None, "another generation, and no PTX"),
    ((80,), (80,), 90, ("compute", 80), "another generation, with PTX"),
    ((80, 90), (90,), 103, ("compute", 90), "a later generation"),
    ((70,), (70, 80), 90, ("compute", 80), "two PTX that fit"),
    ((), (90,), 80, None, "PTX that is too new"),
    ((100,), (100,), 103, ("sm", 100), "machine code comes before PTX"),
)


def fat_binaries(pick, show):
    """Try the rule on fat binaries and devices."""
    for sm, compute, device, expected, case in FATS:
        found = pick(sm, compute, device)
        if found != expected:
            images = [f"sm_{n}" for n in sm] + [f"compute_{n}" for n in compute]
            raise CheckFailed.explained(
                f"{', '.join(images)} on a device of {device / 10:.1f}: expected "
                f"{expected}, got {found!r} ({case}).",
                *_rule(found),
            )


def _rule(found):
    """Return the likely cause of a wrong choice, and what to do."""
    if found is not None and not isinstance(found, tuple):
        return (
            "The answer is a pair of a text and a number, or None.",
            'Return a tuple, as the starter does: "sm", 80.',
        )
    return (
        "Machine code runs on chips of its generation, which is the number without "
        "its last digit, that are not older. PTX is compiled for any device that is "
        "not older.",
        "Look for machine code first, then for PTX; of those that fit, take the "
        "largest.",
    )


# ---------------------------------------------------------------- 04.5


def a_context(open_context, show):
    """Open a context, and ask the driver for the current one."""
    cu = ck.driver.StandIn()
    context = open_context(cu)
    _, current = cu.cuCtxGetCurrent()
    if context is None or int(context) != int(current) or not int(current):
        raise CheckFailed.explained(
            f"open_context returns {context!r}, and the current context is {current}.",
            "No context was made, or something else is returned. (A primary context is "
            "not current by itself.)",
            "Return the value of cuCtxCreate.",
        )


class Broken:
    """A driver one of whose calls fails."""

    def __init__(self, call):
        self._cu, self._call = ck.driver.StandIn(), call

    def __getattr__(self, name):
        if name != self._call:
            return getattr(self._cu, name)
        result = self._cu.CUresult.CUDA_ERROR_NO_DEVICE
        return lambda *arguments: (result, None)[: 1 if name == "cuInit" else 2]


def failures(open_context, show):
    """Let each call fail in turn."""
    for call in ("cuInit", "cuDeviceGet", "cuCtxCreate"):
        try:
            open_context(Broken(call))
        except CheckFailed as failed:  # what open_context raised, as a message
            if "CUDA_ERROR_NO_DEVICE" in str(failed):
                continue
            raise
        raise CheckFailed.explained(
            f"{call} returned CUDA_ERROR_NO_DEVICE, and open_context went on.",
            "A call of the driver raises nothing: it returns a CUresult, and whoever "
            "does not look at it misses the error.",
            "In checked, compare result with CUDA_SUCCESS, which is 0, and raise.",
        )


# ---------------------------------------------------------------- 04.h

C_TYPE = type(ctypes.c_int)  # the class of all simple types of ctypes


def a_launch(parameters, show):
    """Launch saxpy with the student's parameters."""
    cu, n, a = ck.driver.StandIn(), 100, 2.5
    x, y = np.arange(n, dtype=np.float32), np.ones(n, np.float32)
    cu.cuInit(0)
    cu.cuCtxCreate(None, 0, 0)
    ptx = ck.compile("compiling/saxpy.cu").ptx
    _, module = cu.cuModuleLoadData(ptx.encode())
    _, saxpy = cu.cuModuleGetFunction(module, b"saxpy")
    pointers = [_copied(cu, array) for array in (x, y)]
    given = parameters(*pointers, a, n)
    try:
        cu.cuLaunchKernel(saxpy, 1, 1, 1, 128, 1, 1, 0, 0, given, 0)
    except TypeError as error:
        raise CheckFailed.explained(
            f"cuLaunchKernel raised TypeError: {error}",
            *_misfit(given),
        ) from None
    (result,) = cu.cuCtxSynchronize()
    if result != 0:
        raise CheckFailed.explained(
            f"After the launch cuCtxSynchronize returns {cu.explain(result)}",
            "A parameter has the bytes of another one, or of an address of the host.",
            "A pointer's type is c_void_p, with the number int(x) as its value.",
        )
    out, expected = np.zeros_like(y), a * x + y
    cu.cuMemcpyDtoH(out, pointers[1], out.nbytes)
    wrong = np.flatnonzero(out != expected)
    if wrong.size:
        i = wrong[0]
        raise CheckFailed.explained(
            f"y[{i}] is {out[i]:g} after the launch, and {expected[i]:g} is right.",
            "A value has a type with the right size that means something else, or the "
            "order is another one.",
            "Give the types in the order x, y, a, n: two pointers, a float, an int.",
        )


def _misfit(given):
    """Return why cuda.bindings refuses values and types, and what to do."""
    if not (
        isinstance(given, tuple)
        and len(given) == 2
        and all(isinstance(part, tuple) and len(part) == 4 for part in given)
    ):
        return (
            "cuda.bindings takes a tuple of two tuples, and saxpy has four parameters.",
            "Return two tuples of four: the values, and their types.",
        )
    if not all(isinstance(one, C_TYPE) for one in given[1] if one is not None):
        return (
            "The types of Python and NumPy are none of C.",
            "Take the types from ctypes; their names begin with c_.",
        )
    return (
        "A value does not go with its type. An address is an int and has the type "
        "c_void_p; a CUdeviceptr itself has the type None.",
        "Compare each value with its type, in the order x, y, a, n.",
    )


def _copied(cu, array):
    _, pointer = cu.cuMemAlloc(array.nbytes)
    cu.cuMemcpyHtoD(pointer, array, array.nbytes)
    return pointer


EXERCISES = (
    Exercise(
        id="04.g",
        name="redux",
        title="One instruction where there is one",
        kernel="sum_each_warp",
        inputs=small_numbers,
        outputs=("y",),
        sizes=(0, 1, 31, 33, 256),
        owner=None,
        reference=sums_of_warps,
        compiled=(("for compute capability 7.5, 8.0 and 9.0", on_each),),
        hints=(
            "A running kernel cannot ask: an instruction that the architecture lacks "
            "does not even compile. The preprocessor can leave text out, with #if, "
            "#else and #endif.",
            "In device code __CUDA_ARCH__ is 750 for compute capability 7.5, 900 for "
            "9.0.",
        ),
        starter=(CheckFailed, "for compute capability 9.0 has no redux.sync"),
        mutants={
            "two_digits": Mutant(
                mistake="The macro is compared with 80.",
                edits=[("__CUDA_ARCH__ >= 800", "__CUDA_ARCH__ >= 80")],
                fails=(CheckFailed, "For compute capability 7.5 the cell does not"),
            ),
            "hopper_only": Mutant(
                mistake="The condition leaves Hopper out.",
                edits=[("__CUDA_ARCH__ >= 800", "__CUDA_ARCH__ == 800")],
                fails=(CheckFailed, "for compute capability 9.0 has no redux.sync"),
            ),
            "newer_than": Mutant(
                mistake="The condition leaves 8.0 itself out.",
                edits=[("__CUDA_ARCH__ >= 800", "__CUDA_ARCH__ > 800")],
                fails=(CheckFailed, "for compute capability 8.0 has no redux.sync"),
            ),
            "maximum": Mutant(
                mistake="It takes the largest value in place of the sum.",
                edits=[("__reduce_add_sync", "__reduce_max_sync")],
                fails=(CheckFailed, "wrong"),
            ),
        },
    ),
    HostExercise(
        id="04.4",
        name="pick",
        title="The driver's choice",
        stars=2,
        function="pick",
        checks=(("ten fat binaries and devices", fat_binaries),),
        hints=(
            "Two steps: which machine code runs? Only if there is none: which PTX can "
            "be compiled? The drawing above has both rules.",
            "The generation of 86 is 86 // 10. Collect the numbers that fit in a list, "
            "and take max() of it if it is not empty.",
            "fit = [one for one in sm if one // 10 == device // 10 and one <= device]; "
            "for PTX the second half of the condition is enough.",
        ),
        starter=(CheckFailed, "the same generation, a later chip"),
        mutants={
            "any_older": Mutant(
                mistake="Machine code of an earlier generation is taken.",
                edits=[
                    (" and one <= device]", "]"),
                    ("one // 10 == device // 10", "one <= device"),
                ],
                fails=(CheckFailed, "another generation, and no PTX"),
            ),
            "newer_chip": Mutant(
                mistake="Machine code of a later chip is taken.",
                edits=[(" and one <= device]", "]")],
                fails=(CheckFailed, "the same generation, an earlier chip"),
            ),
            "first": Mutant(
                mistake="The first that fits is taken.",
                edits=[("max(fit)", "fit[0]")],
                fails=(CheckFailed, "two that fit: the newest of them"),
            ),
            "number": Mutant(
                mistake="The number alone is returned.",
                edits=[('return "sm", max(fit)', "return max(fit)")],
                fails=(CheckFailed, "a pair of a text and a number"),
            ),
            "exact_ptx": Mutant(
                mistake="PTX is taken only for its own number.",
                edits=[("in compute if one <= device", "in compute if one == device")],
                fails=(CheckFailed, "another generation, with PTX"),
            ),
        },
    ),
    HostExercise(
        id="04.5",
        name="context",
        title="A context in CUDA 13",
        stars=2,
        function="open_context",
        checks=(
            ("a context is made and is current", a_context),
            ("a call that fails is noticed", failures),
        ),
        hints=(
            "Read the message of the check: which argument of cuCtxCreate is missing? "
            "CUDA 13 has put a new one in front of the two of CUDA 12.",
            "The new first argument has the type CUctxCreateParams; None asks for an "
            "ordinary context. And a CUresult of 0 is CUDA_SUCCESS.",
            "cu.cuCtxCreate(None, 0, device); in checked: if result != 0, then raise "
            "RuntimeError(result.name).",
        ),
        starter=(CheckFailed, "takes exactly 3 positional arguments (2 given)"),
        mutants={
            "flags_first": Mutant(
                mistake="A zero stands in the place of the parameters.",
                edits=[("(None, 0, device)", "(0, 0, device)")],
                fails=(CheckFailed, "'ctxCreateParams' has incorrect type"),
            ),
            "not_checked": Mutant(
                mistake="The results are not looked at.",
                edits=[("result != 0", "result is None")],
                fails=(CheckFailed, "and open_context went on"),
            ),
            "no_name": Mutant(
                mistake="The error does not say which result it was.",
                edits=[("RuntimeError(result.name)", 'RuntimeError("failed")')],
                fails=(CheckFailed, "raised RuntimeError: failed"),
            ),
            "returns_device": Mutant(
                mistake="The device is returned.",
                edits=[
                    (
                        "    return checked(cu.cuCtxCreate(None, 0, device))",
                        "    checked(cu.cuCtxCreate(None, 0, device))\n"
                        "    return device",
                    )
                ],
                fails=(CheckFailed, "and the current context is"),
            ),
        },
    ),
    HostExercise(
        id="04.h",
        name="parameters",
        title="Parameters as bytes",
        function="parameters",
        checks=(("a launch of saxpy", a_launch),),
        hints=(
            "ctypes has C's types: c_int, c_float, c_double, and c_void_p for any "
            "pointer. Which has saxpy's x, y, a and n?",
            "Four types in one tuple, in the order of the kernel's parameters.",
        ),
        starter=(ArgumentError, "parameter 0 of saxpy is .u64 and has 8 bytes"),
        mutants={
            "python_float": Mutant(
                mistake="A double is given where the kernel has a float.",
                edits=[("ctypes.c_float", "ctypes.c_double")],
                fails=(ArgumentError, "is .f32 and has 4 bytes, and c_double has 8"),
            ),
            "address_of_the_handle": Mutant(
                mistake="The handles themselves are given, in place of addresses.",
                edits=[("int(x), int(y)", "x, y")],
                fails=(CheckFailed, "CUDA_ERROR_ILLEGAL_ADDRESS"),
            ),
            "lists": Mutant(
                mistake="The types are in a list.",
                edits=[("c_int\n", "c_int\n    types = list(types)\n")],
                fails=(CheckFailed, "Return two tuples of four"),
            ),
            "types_of_python": Mutant(
                mistake="The types are those of Python.",
                edits=[
                    ("ctypes.c_void_p, ctypes.c_void_p", "int, int"),
                    ("ctypes.c_float, ctypes.c_int", "float, int"),
                ],
                fails=(CheckFailed, "Take the types from ctypes"),
            ),
            "order": Mutant(
                mistake="The number and the factor are swapped.",
                edits=[
                    ("int(x), int(y), a, n", "int(x), int(y), n, a"),
                    ("ctypes.c_float, ctypes.c_int", "ctypes.c_int, ctypes.c_float"),
                ],
                fails=(CheckFailed, "CUDA_ERROR_ILLEGAL_ADDRESS"),
            ),
        },
    ),
)
