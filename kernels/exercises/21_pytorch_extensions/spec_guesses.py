"""Guesses of chapter 21."""

from coursekit.exercises import Guess

PARTS = ("test_schema", "test_faketensor", "gradcheck", "nothing fires")

GUESSES = {
    "unseen": Guess(
        question="x.requires_grad is True, and a kernel computes y from x. Then "
        "y.requires_grad is True as well.",
        hint="Who would have told PyTorch that y depends on x?",
        answer=False,
        because="A launch passes addresses. PyTorch sees two tensors, and nothing "
        "that connects them.",
    ),
    "fake": Guess(
        question="torch.compile calls outputs with a fake tensor x. One of these three "
        "results raises an error. Which?",
        options=(
            "torch.empty_like(x)",
            "x.new_empty(x.shape[0])",
            "x.new_empty(int(x.max()))",
        ),
        hint="A fake tensor has a shape, a type, strides and a device. What does each "
        "of the three ask of x?",
        answer="x.new_empty(int(x.max()))",
        because="The maximum is a value, and a fake tensor has none. outputs may use "
        "shapes, types and devices.",
    ),
    "finite": Guess(
        question="A gradient is right, and gradcheck gets float32 inputs. What does "
        "it say?",
        options=("it passes", "it fails", "it passes more slowly"),
        hint="It moves x by 0.000001, and subtracts two values of p. How many digits "
        "does float32 have?",
        answer="it fails",
        because="The difference of two close float32 numbers is mostly rounding "
        "error. So gradcheck wants float64.",
    ),
    "arrays": Guess(
        question="Eager PyTorch computes gelu(x + bias) in two kernels. How many times "
        "do they, together, load or store an array of the size of x?",
        hint="List what each of the two kernels loads and stores; bias is one row.",
        answer=4,
        because="The first kernel loads x and stores z, the second loads z and stores "
        "y. The fused kernel loads x and stores y. And PyTorch keeps z until the "
        "backward pass.",
    ),
    "mutation": Guess(
        question="The operator doubles x in place, and promises mutates_args=(). "
        "Which check fires?",
        options=PARTS,
        hint="Where does mutates_args stand, and which part looks at it?",
        answer="test_schema",
        because="test_schema compares each input before and after the call with what "
        "the schema promises.",
    ),
    "doubled": Guess(
        question="backward returns twice the right gradient. Which check fires?",
        options=PARTS,
        hint="Which of them knows what the derivative should be?",
        answer="gradcheck",
        because="opcheck asks whether a gradient is registered properly. Whether it "
        "is right, only finite differences tell.",
    ),
    "transposed": Guess(
        question="The kernel takes addresses and no strides, and nobody packs x. "
        "opcheck is called with x = torch.randn(3, 5). Which check fires?",
        options=PARTS,
        hint="Are the elements of this x side by side?",
        answer="nothing fires",
        because="opcheck tries the inputs that you give it, and this one is "
        "contiguous. Give it x.T as well.",
    ),
    "nodes": Guess(
        question="A model computes polynomial(x) * 2. torch.export turns it into a "
        "graph. How many of its nodes belong to the polynomial?",
        hint="PyTorch cannot look into an operator.",
        answer=1,
        because="The call of the operator is one node, whatever its kernel does.",
    ),
    "abi": Guess(
        question="An extension includes torch/extension.h and was built beside "
        "PyTorch 2.9. Does it serve PyTorch 2.13?",
        options=("yes", "after it is built again", "after its kernels are rewritten"),
        hint="It uses classes of C++ whose layout may change from version to version.",
        answer="after it is built again",
        because="The header gives access to all of PyTorch's C++, which promises no "
        "stable binary interface. The source often still compiles.",
    ),
}
