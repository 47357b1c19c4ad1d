"""The remainder of f64, computed only for the lanes that need it."""

from __future__ import annotations

from coursekit.errors import UnsupportedError
from coursekit.simt.compiled.tracing import BOOL, F64, Lanes

# Exact: the fraction of x is shifted by 11 bits at a time and divided as an integer.
# y is normal and not tiny; the result for infinite x and for NaN is NaN.
_ONE_LANE = """
define internal double @lanes_fmod(double %x, double %y) {
start:
  %x_bits = bitcast double %x to i64
  %y_bits = bitcast double %y to i64
  %x_size = and i64 %x_bits, 9223372036854775807
  %y_size = and i64 %y_bits, 9223372036854775807
  %x_power = lshr i64 %x_size, 52
  %y_power = lshr i64 %y_size, 52
  %special = icmp eq i64 %x_power, 2047
  br i1 %special, label %nan, label %finite
nan:
  %none = fsub double %x, %x
  ret double %none
finite:
  %less = icmp ult i64 %x_size, %y_size
  br i1 %less, label %same, label %divide
same:
  ret double %x
divide:
  %x_fraction = and i64 %x_bits, 4503599627370495
  %y_fraction = and i64 %y_bits, 4503599627370495
  %x_whole = or i64 %x_fraction, 4503599627370496
  %y_whole = or i64 %y_fraction, 4503599627370496
  %apart = sub i64 %x_power, %y_power
  %first = urem i64 %x_whole, %y_whole
  br label %test
test:
  %rest = phi i64 [ %first, %divide ], [ %next, %step ]
  %left = phi i64 [ %apart, %divide ], [ %fewer, %step ]
  %done = icmp eq i64 %left, 0
  br i1 %done, label %scale, label %step
step:
  %few = icmp ult i64 %left, 11
  %by = select i1 %few, i64 %left, i64 11
  %fewer = sub i64 %left, %by
  %shifted = shl i64 %rest, %by
  %next = urem i64 %shifted, %y_whole
  br label %test
scale:
  %number = uitofp i64 %rest to double
  %power = sub i64 %y_power, 52
  %unit_bits = shl i64 %power, 52
  %unit = bitcast i64 %unit_bits to double
  %size = fmul double %number, %unit
  %result = call double @llvm.copysign.f64(double %size, double %x)
  ret double %result
}"""


class Remainder(Lanes):
    """A remainder whose computation is deferred."""

    def __init__(self, a: Lanes, b: Lanes):
        super().__init__(a.builder, a.count, a.dtype)
        self.operands = a, b

    @property
    def number(self) -> str:
        if self._number is None:
            self._number = self.where(self.like(True, BOOL)).number
        return self._number

    def where(self, lanes: Lanes) -> Lanes:
        """Compute the remainder in some lanes; others may hold anything."""
        if self.dtype != F64:
            raise UnsupportedError("a remainder of narrow floats")
        a, b = self.operands
        name, one = "@lanes_fmod", a.float_type
        self.builder.declare("declare double @llvm.copysign.f64(double, double)")
        self.builder.declare(_ONE_LANE)
        arguments = f"{one} {a.number}, {one} {b.number}"
        if self.count > 1:
            mask = f"i{self.count}"
            self.builder.declare(f"declare {mask} @llvm.cttz.{mask}({mask}, i1)")
            self.builder.declare(_in_lanes(one, self.count))
            name += f"_{self.count}"
            arguments += f", {lanes.type} {lanes.bits}"
        return a.of_number(f"call {one} {name}({arguments})")


def _in_lanes(type_: str, count: int) -> str:
    """Return a function, as IR text, that divides lane by lane under a mask."""
    mask, flags = f"i{count}", f"<{count} x i1>"
    return f"""
define internal {type_} @lanes_fmod_{count}({type_} %x, {type_} %y, {flags} %m) {{
start:
  %all = bitcast {flags} %m to {mask}
  br label %test
test:
  %left = phi {mask} [ %all, %start ], [ %rest, %lane ]
  %value = phi {type_} [ %x, %start ], [ %new, %lane ]
  %none = icmp eq {mask} %left, 0
  br i1 %none, label %done, label %lane
lane:
  %at = call {mask} @llvm.cttz.{mask}({mask} %left, i1 true)
  %a = extractelement {type_} %x, {mask} %at
  %b = extractelement {type_} %y, {mask} %at
  %r = call double @lanes_fmod(double %a, double %b)
  %new = insertelement {type_} %value, double %r, {mask} %at
  %less = sub {mask} %left, 1
  %rest = and {mask} %left, %less
  br label %test
done:
  ret {type_} %value
}}"""
