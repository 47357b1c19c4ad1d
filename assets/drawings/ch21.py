"""Drawings of chapter 21: the way of a call, two graphs, and who compiles when."""

from __future__ import annotations

from drawing import SMALL, Drawing
from parts import table
from shapes import Rectangle


def call_path() -> Drawing:
    """Draw the way of a call from Python to a kernel."""
    d = Drawing(
        "21_call_path",
        """A call polynomial(x) in Python goes to the dispatcher of PyTorch, which
        knows the schema. If x requires a gradient, autograd notes the call first.
        Then one of three implementations runs, chosen by the tensor: the kernel
        on the simulator for a CPU tensor, the kernel on the current stream for a
        CUDA tensor, the fake kernel for a tensor without values.""",
        300,
    )
    call = d.box(Rectangle(8, 120, 130, 46), "Python:\npolynomial(x)")
    dispatch = d.box(Rectangle(186, 120, 130, 46), "dispatcher\nand schema", fill="sky")
    grad = d.box(Rectangle(364, 120, 120, 46), "autograd\nnotes x", fill="amber")
    d.arrow((call.right, 143), (dispatch.x, 143))
    d.arrow((dispatch.right, 143), (grad.x, 143))
    ends = (
        ("CPU tensor:\nlaunch on the simulator", "green"),
        ("CUDA tensor: launch\non the current stream", "green"),
        ("fake tensor:\nempty result, no launch", "idle"),
    )
    for number, (text, fill) in enumerate(ends):
        y = 24 + 94 * number
        end = d.box(Rectangle(556, y, 196, 50), text, fill=fill)
        d.arrow((grad.right, 143), (end.x, y + 25))
    d.note((8, 270), "One name, one schema; the tensor decides what runs.")
    return d


def graphs() -> Drawing:
    """Draw the graph of the forward pass and that of the backward pass."""
    d = Drawing(
        "21_graphs",
        """Two rows. Forward: x goes into polynomial, which makes y; sum makes the
        loss. Backward, from right to left: 1 goes into the backward of sum, which
        makes grad_y; polynomial_backward makes grad_x. An arrow leads from x down
        to polynomial_backward: x is saved. polynomial_backward has two inputs, x
        and grad_y, and is an operator itself.""",
        250,
    )
    d.note((8, 40), "forward")
    d.note((8, 190), "backward")
    top, low = 18, 168
    x = d.box(Rectangle(90, top, 60, 44), "x")
    op = d.box(Rectangle(210, top, 190, 44), "polynomial", fill="sky")
    y = d.box(Rectangle(460, top, 60, 44), "y")
    total = d.box(Rectangle(570, top, 70, 44), "sum", fill="sky")
    loss = d.box(Rectangle(690, top, 60, 44), "loss")
    for a, b in ((x, op), (op, y), (y, total), (total, loss)):
        d.arrow((a.right, top + 22), (b.x, top + 22))
    grad_x = d.box(Rectangle(100, low, 80, 44), "grad_x", fill="amber")
    back = d.box(Rectangle(210, low, 190, 44), "polynomial_backward", fill="green")
    grad_y = d.box(Rectangle(450, low, 80, 44), "grad_y", fill="amber")
    spread = d.box(
        Rectangle(570, low, 70, 44), "backward\nof sum", fill="green", font=SMALL
    )
    one = d.box(Rectangle(690, low, 60, 44), "1", fill="amber")
    for a, b in ((one, spread), (spread, grad_y), (grad_y, back), (back, grad_x)):
        d.arrow((a.x, low + 22), (b.right, low + 22))
    d.arrow((x.x + 50, x.bottom), (back.x + 20, back.y))
    d.label((196, 112), "x is saved", fill="amber")
    return d


def who_compiles() -> Drawing:
    """Draw who compiles what, and when, for four ways to an operator."""
    d = Drawing(
        "21_who_compiles",
        """A table of four ways to an operator. torch_op over NVRTC: nothing when it
        is installed, the kernel alone when the program first needs it.
        PyTorch's own run-time compiler: the same, on a GPU only. load_inline: a
        C++ compiler and nvcc build kernel and binding when the program first
        needs them. A built extension on the stable ABI: the author's machine
        builds everything once, the user loads a shared library.""",
        250,
    )
    rows = (
        ("", "on the author's machine", "when first used"),
        ("ck.torch_op", "nothing", "NVRTC: the kernel"),
        ("torch.cuda._compile_kernel", "nothing", "NVRTC: the kernel"),
        ("load_inline", "nothing", "g++ and nvcc: all"),
        ("built, stable ABI", "g++ and nvcc: all", "nothing: loads a .so"),
    )

    def fill(row: int, col: int) -> str:
        if row == 0 or col == 0:
            return "plain"
        if "nothing" in rows[row][col]:
            return "idle"
        return "sky" if "NVRTC" in rows[row][col] else "amber"

    table(d, (8, 12), rows, (248, 44), fill, font=SMALL)
    return d


DRAW = (call_path, graphs, who_compiles)
