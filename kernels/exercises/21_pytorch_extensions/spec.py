"""Your turn 21.a to 21.e: gradients, an operator, and its fake kernel."""

import contextlib
import math

import numpy as np

from coursekit.errors import ArgumentError, CheckFailed, LaunchError, OutOfBoundsError
from coursekit.exercises import Exercise, HostExercise, Mutant, blank, blocks, shuffled

P3 = "extensions/polynomial.cu"
# At the last size, a block for each 256 elements is no size of a block.
SIZES = (1, 255, 257, 1000, 300_000)


def random(shape, generator):
    """Return distinct numbers from -2 to 2 in float64."""
    values = shuffled(shape, generator, np.float64)
    return values * (16 / values.size) - 2


def points(size, generator):
    """Return what 21.a takes."""
    return {
        "x": random(size, generator),
        "grad_y": random(size, generator),
        "grad_x": blank(size, np.float64),
        "n": size,
    }


def rows(size, generator):
    """Return what 21.e takes."""
    return {
        "x": random(size, generator),
        "bias": random(size[1], generator),
        "grad_y": random(size, generator),
        "grad_z": blank(size, np.float64),
        "cols": size[1],
    }


def gelu_slope(z):
    """Return the derivative of GELU."""
    share = np.vectorize(math.erfc)(-z / math.sqrt(2)) / 2
    return share + z * np.exp(-z * z / 2) / math.sqrt(2 * math.pi)


def a_thread_per_value(threads):
    """Launch a thread for each value, in a grid of rows."""
    return lambda size: ((blocks(size[1], threads), size[0]), threads)


def wrong(what, cause, cure):
    """Return the error of a wrong answer."""
    return CheckFailed.explained(what, cause, cure)


def numbers(*shape, dtype=None):
    """Return a tensor of numbers from -1 to 2, the same each time."""
    import torch

    count = math.prod(shape)
    values = torch.linspace(-1, 2, count, dtype=dtype or torch.float64)
    return values.reshape(shape)


@contextlib.contextmanager
def filled():
    """Let PyTorch fill new tensors with NaN, so that a missing result shows."""
    import torch

    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before)


def computes(operator, show):
    """Demand the values of the polynomial for several sizes and both types."""
    import torch

    import coursekit as ck

    polynomial = operator(ck.compile(P3))
    for dtype in torch.float32, torch.float64:
        for n in SIZES:
            x = numbers(n, dtype=dtype)
            with filled():
                found = polynomial(x)
            exact = x.double() ** 3 - 3 * x.double() + 1
            # Three roundings of terms up to 8.
            far = (found.double() - exact).abs() > 24 * torch.finfo(dtype).eps
            if bool((~found.isfinite() | far).any()):
                first = int((~found.isfinite() | far).nonzero()[0])
                raise wrong(
                    f"Of {n} elements, y[{first}] is {found[first].item():.6g} and "
                    f"should be {exact[first].item():.6g}.",
                    "The grid has too few blocks, so that no thread writes the last "
                    "elements.",
                    "Round up: n elements take -(-n // 256) blocks of 256 threads.",
                )


def passes_opcheck(operator, show):
    """Demand that PyTorch's own check finds nothing."""
    import torch

    import coursekit as ck

    torch.library.opcheck(operator(ck.compile(P3)), (numbers(3, 5),))


def has_shape(outputs, show):
    """Demand the shape of the result, for even and odd rows."""
    for shape in (2, 4), (3, 5), (1, 1):
        found, due = outputs(numbers(*shape)), (shape[0], -(-shape[1] // 2))
        if tuple(found.shape) != due:
            raise wrong(
                f"For x of shape {shape} the result has the shape "
                f"{tuple(found.shape)}; it should be {due}.",
                "Two neighbours give one value; an odd last one is alone and counts.",
                "Halve the number of columns and round up.",
            )


def has_kind(outputs, show):
    """Demand the type and the device of x."""
    import torch

    for dtype, device in (torch.float16, "cpu"), (torch.float64, "meta"):
        x = torch.empty(2, 4, dtype=dtype, device=device)
        found = outputs(x)
        if (found.dtype, found.device) != (x.dtype, x.device):
            raise wrong(
                f"For x of {x.dtype} on {x.device} the result is of {found.dtype} on "
                f"{found.device}.",
                "torch.empty makes float32 on the CPU unless told otherwise.",
                "Make the result from x: x.new_empty(...) takes over type and device.",
            )


def has_memory(outputs, show):
    """Demand a result that shares no memory with x."""
    x = numbers(2, 4)
    if outputs(x).untyped_storage().data_ptr() == x.untyped_storage().data_ptr():
        raise wrong(
            "The result is a view of x: both share their memory.",
            "A slice makes no copy, and the kernel would write its results over x.",
            "Make a new tensor with x.new_empty(...).",
        )


def agrees(second, show):
    """Compare with what PyTorch derives from the formula of grad_x."""
    import torch

    x, grad_y = numbers(7).requires_grad_(), numbers(7).flip(0).requires_grad_()
    grad_grad_x = numbers(7) + 1.5
    grad_x = grad_y * (3 * x * x - 3)
    exact = torch.autograd.grad(grad_x, (x, grad_y), grad_grad_x)
    found = second(x.detach(), grad_y.detach(), grad_grad_x)
    for name, own, due in zip(("x", "grad_y"), found, exact, strict=True):
        far = ~torch.isclose(own, due, rtol=1e-12, atol=1e-12)
        if bool(far.any()):
            i = int(far.nonzero()[0])
            raise wrong(
                f"by_{name} is {own[i].item():g} and should be {due[i].item():g}, at "
                f"x = {x[i].item():g}, grad_y = {grad_y[i].item():g}, grad_grad_x = "
                f"{grad_grad_x[i].item():g}.",
                f"It is grad_grad_x times the derivative of grad_x with respect to "
                f"{name}.",
                f"Differentiate grad_y * (3 * x * x - 3) with respect to {name}; all "
                "else is a constant.",
            )


def differentiates_twice(second, show):
    """Compare second derivatives of the course's operator with finite differences."""
    import torch

    import coursekit as ck

    def threads(x, *others):
        return -(-x.numel() // 256), 256, x.numel()

    gradient = ck.torch_op(
        "turn::polynomial_backward",
        ck.compile("extensions/polynomial_backward.cu"),
        second,
        launch=lambda x, grad_y, grad_x: threads(x),
        outputs=lambda x, grad_y: torch.empty_like(x),
    )
    polynomial = ck.torch_op(
        "turn::polynomial",
        ck.compile(P3),
        gradient,
        launch=lambda x, y: threads(x),
        outputs=lambda x: torch.empty_like(x),
    )
    torch.autograd.gradgradcheck(polynomial, (numbers(5).requires_grad_(),))


EXERCISES = (
    Exercise(
        id="21.a",
        name="backward",
        title="The backward of a polynomial",
        kernel="polynomial_backward",
        inputs=points,
        outputs=("grad_x",),
        reference=lambda v: v.grad_y * (3 * v.x**2 - 3),
        sizes=(1, 31, 33, 1023),
        roundings=4,
        magnitude=lambda v: np.abs(v.grad_y) * (3 * v.x**2 + 3),
        hints=(
            "By the chain rule grad_x is grad_y times the derivative of p at x.",
            "p'(x) = 3 x^2 - 3. There is no operator for powers: write x[i] * x[i].",
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "no_chain": Mutant(
                mistake="The derivative alone; what comes from above is left out.",
                edits=[("grad_y[i] * (3", "(3")],
                fails=(CheckFailed, "wrong"),
            ),
            "constant": Mutant(
                mistake="The term -3 x loses its derivative.",
                edits=[(" - 3)", ")")],
                fails=(CheckFailed, "wrong"),
            ),
        },
    ),
    HostExercise(
        id="21.b",
        name="operator",
        title="An operator in five lines",
        function="operator",
        checks=(
            ("computes the polynomial, at five sizes, in two types", computes),
            ("passes opcheck", passes_opcheck),
        ),
        hints=(
            "n elements take n / 256 blocks, rounded up. y has the shape and the type "
            "of x, and memory of its own.",
            "-(-x.numel() // 256) rounds up. torch.empty_like(x) makes room.",
        ),
        starter=(ArgumentError, "outputs returned an input"),
        mutants={
            "one_block": Mutant(
                mistake="One block for any size.",
                edits=[("-(-x.numel() // 256)", "1")],
                fails=(CheckFailed, "y[256] is nan"),
            ),
            "rounded_down": Mutant(
                mistake="The grid is rounded down.",
                edits=[("-(-x.numel() // 256)", "max(1, x.numel() // 256)")],
                fails=(CheckFailed, "y[256] is nan"),
            ),
            "swapped": Mutant(
                mistake="The sizes of grid and block are swapped.",
                edits=[("(-(-x.numel() // 256), 256,", "(256, -(-x.numel() // 256),")],
                fails=(LaunchError, "1172 threads"),
            ),
            "short": Mutant(
                mistake="The result has one element.",
                edits=[("torch.empty_like(x)", "x.new_empty(1)")],
                fails=(OutOfBoundsError, "writes y"),
            ),
        },
    ),
    HostExercise(
        id="21.c",
        name="outputs",
        title="The shape of a result",
        function="outputs",
        checks=(
            ("the shape, for even and odd rows", has_shape),
            ("the type and the device of x", has_kind),
            ("memory of its own", has_memory),
        ),
        hints=(
            "x.new_empty(rows, cols) makes a tensor with the type and the device of x.",
            "The rows are x.shape[0]. Of x.shape[1] columns, (x.shape[1] + 1) // 2 "
            "are left.",
        ),
        starter=(CheckFailed, "should be (2, 2)"),
        mutants={
            "rounded_down": Mutant(
                mistake="The odd last column is lost.",
                edits=[("(x.shape[1] + 1) // 2", "x.shape[1] // 2")],
                fails=(CheckFailed, "should be (3, 3)"),
            ),
            "float32": Mutant(
                mistake="Always float32, and always on the CPU.",
                edits=[
                    ("x.new_empty(", "torch.empty("),
                    ("def outputs", "import torch\n\n\ndef outputs"),
                ],
                fails=(CheckFailed, "of torch.float32 on cpu"),
            ),
            "view": Mutant(
                mistake="A slice of x has the right shape, and the memory of x.",
                edits=[("x.new_empty(x.shape[0], (x.shape[1] + 1) // 2)", "x[:, ::2]")],
                fails=(CheckFailed, "is a view of x"),
            ),
        },
    ),
    HostExercise(
        id="21.d",
        name="second",
        title="The backward of the backward",
        function="second",
        checks=(
            ("agrees with PyTorch's own derivative", agrees),
            ("passes gradgradcheck as backward of the operator", differentiates_twice),
        ),
        hints=(
            "Differentiate grad_y * (3 * x * x - 3) with respect to x; grad_y is a "
            "constant. Then the chain rule again.",
            "The derivative with respect to x is grad_y * 6 * x.",
        ),
        starter=(CheckFailed, "by_x is"),
        mutants={
            "no_grad_y": Mutant(
                mistake="The factor grad_y is lost.",
                edits=[("grad_y * 6", "6")],
                fails=(CheckFailed, "by_x is"),
            ),
            "of_p": Mutant(
                mistake="Only x counts, and both other factors are lost.",
                edits=[("grad_grad_x * grad_y * 6", "6")],
                fails=(CheckFailed, "by_x is -3 and should be -4.5, at x = -0.5"),
            ),
            "no_chain": Mutant(
                mistake="The chain rule is forgotten.",
                edits=[("grad_grad_x * grad_y * 6", "grad_y * 6")],
                fails=(CheckFailed, "by_x is"),
            ),
        },
    ),
    Exercise(
        id="21.e",
        name="bias_gelu",
        title="The backward of GELU",
        kernel="bias_gelu_backward",
        inputs=rows,
        outputs=("grad_z",),
        reference=lambda v: v.grad_y * gelu_slope(v.x + v.bias),
        sizes=((1, 1), (2, 31), (3, 33), (2, 300)),
        launches=(a_thread_per_value(256), a_thread_per_value(64)),
        # normcdf, exp and the reference's erfc are right to a few units each.
        roundings=64,
        magnitude=lambda v: np.abs(v.grad_y) * (1 + 0 * v.x),
        owner=None,
        hints=(
            "y = z * P(z) is a product: the product rule gives two terms.",
            "(z * P(z))' = P(z) + z * P'(z). P is normcdf, and P' is in density.",
        ),
        starter=(CheckFailed, "wrong"),
        mutants={
            "one_term": Mutant(
                mistake="The product rule has two terms, and one is missing.",
                edits=[("(normcdf(z) + z * density)", "normcdf(z)")],
                fails=(CheckFailed, "wrong"),
            ),
            "no_factor": Mutant(
                mistake="The second term lacks its factor z.",
                edits=[("z * density", "density")],
                fails=(CheckFailed, "wrong"),
            ),
        },
    ),
)
