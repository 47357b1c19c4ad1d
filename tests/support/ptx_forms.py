"""Lane-wise PTX instructions that random programs choose from.

A line of a table reads `opcode results sources`, one letter an operand; words in
braces stand for one line each, and words in parentheses go on in step with them.
All forms are valid for sm_90, which a test asks ptxas to confirm.

    h i l    integers of 16, 32, 64 bits; e x  halves in 16 bits, pairs of halves in 32
    f d p    floats of 32 and 64 bits, predicates; q  a predicate that may be negated
    s K b    a shift count; immediates: a byte, a number below 32
    [ii]     a vector in braces; p|p a pair of predicates
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass

# What compilers write most of the time.
COMMON = """
{add,sub,mul.lo,min,max}.s32 i ii
{and,or,xor}.b32 i ii
shl.b32 i is
shr.{u32,s32} i is
mad.lo.s32 i iii
neg.s32 i i
not.b32 i i
mul.wide.{u32,s32} l ii
add.s64 l ll
{shl.b64,shr.u64,shr.s64} l ls
and.b64 l ll
cvt.{u64.u32,s64.s32} l i
cvt.u32.u64 i l
cvt.u16.u32 h i
cvt.u32.u16 i h
{mov.u32,mov.b32} i i
mov.b32 i f
mov.b32 f i
mov.f32 f f
{add,sub,mul}.rn.f32 f ff
fma.rn.f32 f fff
cvt.rn.f32.{s32,u32} f i
cvt.rzi.{s32,u32}.f32 i f
setp.{eq,ne,lt,le,gt,ge}.{s32,u32} p ii
setp.{lt,gt,eq,neu,ltu,geu}.f32 p ff
{and,or,xor}.pred p pq
not.pred p p
selp.b32 i iip
selp.f32 f ffp
"""

RARE = """
{add,sub,mul.lo,mul.hi,min,max}.{s16,u16} h hh
{add,sub,mul.lo,mul.hi,min,max}.{u32,s64,u64} {i,l,l} {ii,ll,ll}
mul.hi.s32 i ii
{abs,neg}.{s16,s32,s64} {h,i,l} {h,i,l}
mad.lo.{s16,u32,s64} {h,i,l} {hhh,iii,lll}
mad.hi.{u16,s32,u64} {h,i,l} {hhh,iii,lll}
mul.wide.{s16,u16} i hh
mad.wide.{s32,u32} l iil
mad.wide.s16 i hhi
{mul24.lo,mul24.hi}.{s32,u32} i ii
mad24.lo.{s32,u32} i iii
{add,sub}.sat.s32 i ii
sad.{s32,u32,s64} {i,i,l} {iii,iii,lll}
dp4a.{s32.s32,u32.u32,u32.s32} i iii
dp2a.{lo,hi}.s32.u32 i iii
{and,or,xor}.{b16,b64} {h,l} {hh,ll}
not.{b16,b64} {h,l} {h,l}
cnot.{b16,b32,b64} {h,i,l} {h,i,l}
shl.b16 h hs
shr.{s16,u16} h hs
lop3.b32 i iiiK
shf.{l,r}.{wrap,clamp}.b32 i iis
{popc,clz,brev}.b32 i i
{popc,clz}.b64 i l
brev.b64 l l
bfind.{u32,s32} i i
bfind.shiftamt.u64 i l
bfe.{u32,s32} i iss
bfe.{u64,s64} l lbb
bfi.{b32,b64} {i,l} {iiss,llbb}
bmsk.{clamp,wrap}.b32 i ss
szext.{clamp,wrap}.{u32,s32} i is
prmt.b32 i iii
prmt.b32.{f4e,b4e,rc8,ecl,ecr,rc16} i iii
setp.{lo,ls,hi,hs}.{u16,u64} p {hh,ll}
setp.{eq,lt,ge}.{s16,s64} p {hh,ll}
setp.{eq,ne}.{b16,b64} p {hh,ll}
setp.{lt,ne,gt}.{and,or,xor}.s32 p iiq
setp.{lt,ge}.{s32,u64} p|p {ii,ll}
setp.{le,ne,num,nan,equ}.f64 p dd
setp.lt.{and,or}.f64 p|p ddq
set.{lt,ge}.{u32.s32,s32.u64} i {ii,ll}
set.gt.{u32,f32}.f32 {i,f} ff
slct.b32.s32 i iii
slct.f32.f32 f fff
selp.{b16,b64,f64} {h,l,d} {hhp,llp,ddp}
mov.{b16,u64,f64} {h,l,d} {h,l,d}
mov.b64 l d
mov.b64 d l
mov.b64 l [ii]
mov.b64 [ii] l
mov.b32 i [hh]
mov.b32 [hh] i
mov.b64 l [hhhh]
mov.pred p p
cvt.{u32.u8,s32.s8,u32.u16,s32.s16} i i
cvt.{s16.s8,u16.u8} h h
cvt.{u16.u64,s16.s64} h l
cvt.{s64.s16,u64.u16,s64.s8} l h
cvt.sat.{s16.s32,u16.s32,u8.s32} h i
cvt.sat.{s32.s64,u32.s64,s32.u64} i l
cvt.rn.f32.{s64,u64,s16,u8} f {l,l,h,h}
cvt.rn.f64.{s64,u64} d l
cvt.f64.f32 d f
cvt.rn.f64.s32 d i
cvt.{rn,rz,rm,rp}.f32.f64 f d
cvt.{rni,rzi,rmi,rpi}.{s32,s64}.f32 {i,l} f
cvt.{rni,rzi,rmi,rpi}.{u32,u64}.f64 {i,l} d
cvt.{rni,rmi,rpi,rzi}.f32.f32 f f
cvt.rmi.f64.f64 d d
cvt.rzi.{s16,u16,u8}.f32 h f
cvt.sat.f32.f32 f f
cvt.rn.f16.f32 e f
cvt.f32.{f16,bf16} f e
cvt.rn.bf16.f32 e f
cvt.rn.f16.{s16,u16} e h
cvt.rzi.s32.f16 i e
cvt.rn.{f16x2,bf16x2}.f32 x ff
cvt.rna.tf32.f32 i f
cvt.rn.satfinite.{e4m3x2,e5m2x2}.f32 h ff
cvt.rn.f16x2.{e4m3x2,e5m2x2} x h
{add,sub,mul}.{rz,rm,rp,rn.ftz,rn.sat}.f32 f ff
fma.{rz,rm,rp,rn.ftz,rn.sat}.f32 f fff
{add,sub,mul}.{rn,rz,rp}.f64 d dd
fma.{rn,rm}.f64 d ddd
{div,rcp,sqrt}.rn.f64 d {dd,d,d}
div.{rn,rz,rn.ftz}.f32 f ff
{rcp,sqrt}.{rn,rm,rn.ftz}.f32 f f
{min,max}.{f32,NaN.f32,ftz.f32} f ff
{min,max}.f64 d dd
{abs,neg}.{f32,ftz.f32,f64} {f,f,d} {f,f,d}
copysign.{f32,f64} {f,d} {ff,dd}
testp.{finite,infinite,number,notanumber,normal,subnormal}.{f32,f64} p {f,d}
{add,sub,mul}.rn.{f16,f16x2} {e,x} {ee,xx}
fma.rn.{f16,f16x2,relu.f16,sat.f16x2} {e,x,e,x} {eee,xxx,eee,xxx}
fma.rn.{bf16,bf16x2} {e,x} {eee,xxx}
{min,max}.{f16,NaN.f16x2,bf16,NaN.bf16x2} {e,x,e,x} {ee,xx,ee,xx}
{abs,neg}.{f16,f16x2,bf16,bf16x2} {e,x,e,x} {e,x,e,x}
setp.{lt,geu,ne}.{f16,bf16} p ee
{min,max}.{s16x2,u16x2} i ii
add.{u16x2,s16x2} i ii
"""

# Exact on the simulator, though not to the last bit those of a GPU.
APPROXIMATE = """
{ex2,lg2,sin,cos,rcp,rsqrt,sqrt,tanh}.approx.f32 f f
{ex2,lg2,rcp,rsqrt,sqrt}.approx.ftz.f32 f f
div.{approx,full}.f32 f ff
{ex2,tanh}.approx.{f16,f16x2} {e,x} {e,x}
rsqrt.approx.f64 d d
"""

# ptxas takes a guard off these, or leaves out what they do not write.
UNGUARDED = re.compile(r"^(testp|set\.)")
# ptxas turns these into their operand where both are the same, NaN or not.
EXTREMES = re.compile(r"^(min|max)\..*f\d+")
# Type modifiers that refuse an immediate operand.
_REGISTERS_ONLY = re.compile(r"^(fns|dp[24]a|cvt|mov|not|.*16x2|.*f16)")


@dataclass(frozen=True)
class Form:
    """An opcode with its types, and the letters of its operands."""

    opcode: str
    results: tuple[str, ...]
    sources: tuple[str, ...]

    @property
    def immediates(self) -> bool:
        """Whether operands other than the first may be immediate."""
        return not _REGISTERS_ONLY.match(self.opcode)


def _operands(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\[\w+\]|\w", text.replace("|", "")))


def _expand(line: str) -> list[Form]:
    """All forms of a line: braces of the operands go with the last of the opcode."""
    opcode, results, sources = line.split()
    parts = re.split(r"\{([^}]*)\}", opcode)
    lists = [
        part.split(",") if k % 2 else [part] for k, part in enumerate(parts) if part
    ]

    def choose(text: str, number: list[int]) -> str:
        words = text.strip("{}").split(",")
        if len(words) == 1:
            return words[0]
        place = next(k for k, one in enumerate(lists[::-1]) if len(one) == len(words))
        return words[number[::-1][place]]

    found = []
    for number in itertools.product(*(range(len(one)) for one in lists)):
        name = "".join(one[k] for one, k in zip(lists, number, strict=True))
        found.append(
            Form(
                name,
                _operands(choose(results, number)),
                _operands(choose(sources, number)),
            )
        )
    return found


def forms(table: str) -> list[Form]:
    """Every form of a table."""
    return [form for line in table.split("\n") if line for form in _expand(line)]
