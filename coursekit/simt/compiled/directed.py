"""Float arithmetic with directed rounding, by the processor's rounding mode.

A function of its own changes the mode, computes and changes it back; the intrinsics
are those that the compiler does not move.
"""

from __future__ import annotations

from coursekit.simt.compiled.tracing import F32, Lanes

# As llvm.set.rounding numbers them.
_MODES = {"rz": 0, "rn": 1, "rp": 2, "rm": 3}
_NAMES = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv", "fma": "fma",
          "sqrt": "sqrt"}  # fmt: skip


def directed(name: str, rounding: str):
    """Return the function of f32 or f64 lanes that rounds in a direction."""

    def evaluate(*sources: Lanes) -> Lanes:
        first = sources[0]
        one = "f32" if first.dtype == F32 else "f64"
        type_ = first.float_type
        suffix = one if first.count == 1 else f"v{first.count}{one}"
        function = f"@lanes_{name}_{rounding}_{suffix}"
        intrinsic = f"@llvm.experimental.constrained.{_NAMES[name]}.{suffix}"
        types = ", ".join([type_] * len(sources))
        declare = first.builder.declare
        declare("declare void @llvm.set.rounding(i32)")
        declare(f"declare {type_} {intrinsic}({types}, metadata, metadata)")
        declare(_text(function, intrinsic, rounding, type_, len(sources)))
        arguments = ", ".join(f"{type_} {x.number}" for x in sources)
        return first.of_number(f"call {type_} {function}({arguments})")

    return evaluate


def _text(function, intrinsic, rounding, type_, count) -> str:
    listed = ", ".join(f"{type_} %{letter}" for letter in "abc"[:count])
    how = 'metadata !"round.dynamic", metadata !"fpexcept.strict"'
    return f"""
define internal {type_} {function}({listed}) noinline strictfp {{
  call void @llvm.set.rounding(i32 {_MODES[rounding]}) strictfp
  %r = call {type_} {intrinsic}({listed}, {how}) strictfp
  call void @llvm.set.rounding(i32 1) strictfp
  ret {type_} %r
}}"""
