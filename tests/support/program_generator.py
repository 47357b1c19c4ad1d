"""Random CUDA C++ kernels that also compile as host C++, for tests of the engine.

`program(seed)` writes a kernel `k<seed>` and a function `host<seed>` that must give
the same bits: the host runs one phase for all threads before it begins the next.
Signed arithmetic is done on unsigned values, divisors are positive, float to integer
conversions stay in range, and one fuel counter per thread ends every loop, so that
programs have a defined result even where a goto jumps into the middle of a loop.
"""

from __future__ import annotations

import random
import re

PRELUDE = r"""
typedef unsigned long long u64;
typedef long long i64;
#ifdef __CUDACC__
#define FN static __device__ __noinline__
#define SEGMENT static __device__ __forceinline__
#define POPC __popc
#define MULHI __umulhi
#define RSQ(x) __fsqrt_rn(fabsf(x))
#else
#include <cmath>
#include <cstring>
#define FN static
#define SEGMENT static
#define POPC __builtin_popcount
static unsigned MULHI(unsigned a, unsigned b) { return (u64)a * b >> 32; }
static float RSQ(float x) { return sqrtf(fabsf(x)); }
#endif
struct Item { int x; short y; signed char z; i64 w; };
union Bits { unsigned u; unsigned short h[2]; unsigned char c[4]; };
struct State {
  int a, b, c, e, fuel, arr[8];
  unsigned u, v;
  short h;
  signed char k;
  i64 l, m;
  float f, g;
  double d;
  Item items[3];
  Bits bits;
};
FN int plus(int x, int y) { return (int)((unsigned)x + (unsigned)y); }
FN int to_int(double x) { return x > -1e9 && x < 1e9 ? (int)x : 7; }
FN u64 fold(u64 sum, u64 x) { sum = (sum ^ x) * 0x9E3779B97F4A7C15ull;
  return sum ^ sum >> 29; }
FN u64 pattern(double x) { u64 bits; if (x != x) return 0x7ff8;
  memcpy(&bits, &x, 8); return bits; }
FN u64 digest(const State& s) {
  u64 sum = 1;
  sum = fold(sum, s.a); sum = fold(sum, s.b); sum = fold(sum, s.c);
  sum = fold(sum, s.e); sum = fold(sum, s.u); sum = fold(sum, s.v);
  sum = fold(sum, s.h); sum = fold(sum, s.k); sum = fold(sum, s.l);
  sum = fold(sum, s.m); sum = fold(sum, pattern(s.f)); sum = fold(sum, pattern(s.g));
  sum = fold(sum, pattern(s.d)); sum = fold(sum, s.bits.u);
  for (int i = 0; i < 8; ++i) sum = fold(sum, s.arr[i]);
  for (int i = 0; i < 3; ++i) { sum = fold(sum, s.items[i].x + (i64)s.items[i].y);
    sum = fold(sum, s.items[i].z ^ s.items[i].w); }
  return sum;
}
SEGMENT void begin(State& s, int t, const int* in) {
  s.a = in[t & 63]; s.b = in[(t * 7 + 3) & 63]; s.c = t; s.e = in[5]; s.fuel = 40;
  s.u = (unsigned)s.a * 3u; s.v = t ^ 21u; s.h = s.a; s.k = s.b; s.l = (i64)s.a * s.b;
  s.m = ~(i64)t; s.f = s.a * 0.125f; s.g = 1.5f - t; s.d = s.b / 7.0; s.bits.u = s.b;
  for (int i = 0; i < 8; ++i) s.arr[i] = in[i + (t & 31)];
  for (int i = 0; i < 3; ++i) { s.items[i].x = i + t; s.items[i].y = -i;
    s.items[i].z = t; s.items[i].w = i * s.l; }
}
"""


def _words(table: dict[str, str]) -> dict[str, list[str]]:
    return {kind: text.split() for kind, text in table.items()}


# What makes a value of each type: a lower-case letter in braces is a smaller one of
# that type. i int, u unsigned, h short, k char, l long, f float, d double, p condition.
TEMPLATES = _words(
    {
        "i": """(int)((unsigned){i}+(unsigned){i}) (int)((unsigned){i}-{u})
        (int)((unsigned){i}*(unsigned){i}) ({i}&{i}) ({i}|{i}) ({i}^{i}) (~{i})
        ({i}>>({i}&31)) ({i}/(({i}&63)+1)) ({i}%(({i}&15)+3)) ({p}?{i}:{i}) (int){u}
        (int){l} (int){h} (int){k} to_int({f}) to_int({d}) s.arr[{i}&7]
        s.items[({u}%3)].x (int)s.bits.h[{i}&1] POPC({u}) call{n}({i},{u},{f},in)
        climb{n}({i}&7,{i}) in[{i}&63]""",
        "u": """({u}+{u}) ({u}-{u}) ({u}*{u}) ({u}<<({i}&31)) ({u}>>({i}&31))
        ({u}/({u}|1))
        ({u}%({u}|1)) (unsigned){i} (unsigned){l} ({u}&~{u}) MULHI({u},{u})
        (unsigned)s.bits.c[{i}&3] ({p}?{u}:{u}) (unsigned)({p})
        (({u}<<7)|({u}>>25))""",
        "h": "(short){i} (short)({h}*{k}) (short)({h}>>({i}&15)) (short){k} "
        "s.items[({u}%3)].y",
        "k": "(signed_char){i} (signed_char)({k}+{h}) s.items[({u}%3)].z",
        "l": """(i64)((u64){l}+(u64){l}) (i64)((u64){l}*(u64){l}) ({l}>>({i}&63))
        (i64){i}
        (i64){u} ((i64){i}*{i}) ((i64){i}*{u}) ({l}^{l}) ({l}/(({l}&255)+1))
        ({l}%(({l}&1023)+5)) (i64)((u64){l}<<({i}&63)) ({p}?{l}:{l}) (i64){h}
        s.items[({u}%3)].w""",
        "f": """({f}+{f}) ({f}-{f}) ({f}*{f}) ({f}/{f}) (float){i} (float){u} (float){l}
        (float){d} fabsf({f}) RSQ({f}) fmaf({f},{f},{f}) floorf({f}) ({p}?{f}:{f})
        (-{f}) (float){h} truncf({f})""",
        "d": """({d}+{d}) ({d}-{d}) ({d}*{d}) ({d}/{d}) (double){f} (double){i}
        (double){l}
        (double){u} fabs({d}) sqrt(fabs({d})) fma({d},{d},{d}) ({p}?{d}:{d})
        ceil({d})""",
        "p": """({i}<{i}) ({u}>={u}) ({l}!={l}) ({f}<{f}) ({d}>={d}) (({i}&3)==1)
        ({p}&&{p}) ({p}||{p}) !({p}) ({h}<{k}) (({u}&5)!=0) (({i}^{i})&1)
        ({f}=={f})""",
    }
)
VARIABLES = _words({
    "i": "s.a s.b s.c s.e", "u": "s.u s.v", "h": "s.h",
    "k": "s.k", "l": "s.l s.m", "f": "s.f s.g", "d": "s.d",
})  # fmt: skip
LITERALS = _words({
    "i": "0 1 (-1) 5 31 255 (-2147483647) 0x12345678",
    "u": "0u 1u 31u 0xffffffffu 0x80000000u 77u",
    "h": "(short)3 (short)(-7)", "k": "(signed_char)(-128)",
    "l": "0ll (-1ll) 0x123456789abcdefll",
    "f": "0.0f 1.0f (-2.5f) 1e30f 3e-39f 0.1f",
    "d": "0.5 (-3.0) 1e300 0.1",
    "p": "(t&1) (t&2) (t%3==0) (t<17)",
})  # fmt: skip


class Writer:
    """Writes one program; all choices come from its seed."""

    def __init__(self, seed: int):
        self.seed, self.random = seed, random.Random(seed)
        self.segments: list[str] = []
        self.labels = self.placed = self.loops = self.counters = 0
        self.jumps = self.random.random() < 0.4

    # -- expressions ------------------------------------------------------------

    def value(self, kind: str, depth: int = 3) -> str:
        """An expression of one type."""
        choose = self.random
        if depth <= 0 or choose.random() < 0.2:
            known = VARIABLES.get(kind, []) * 3 + LITERALS[kind]
            return choose.choice(known).replace("_char", " char")
        template = choose.choice(TEMPLATES[kind]).replace("_char", " char")
        template = template.replace("{n}", str(self.seed))
        return re.sub(r"{(\w)}", lambda m: self.value(m[1], depth - 1), template)

    # -- statements --------------------------------------------------------------

    def block(self, depth: int) -> str:
        """Statements between braces."""
        count = self.random.randint(1, 3)
        return "{ " + "\n".join(self.statement(depth) for _ in range(count)) + " }"

    def statement(self, depth: int) -> str:
        """A statement; `depth` bounds what is nested in it."""
        text = ""
        if self.placed < self.labels and self.random.random() < 0.3:
            text = f"L{self.placed}: ;\n"
            self.placed += 1
        nested = [self.branch, self.loop, self.choice] if depth > 0 else []
        plain = [self.assign, self.assign, self.element, self.leave]
        jumps = [self.jump] if self.labels else []
        return text + self.random.choice(nested * 2 + plain + jumps)(depth - 1)

    def assign(self, depth: int) -> str:
        kind = self.random.choice("iiiuuhkllffd")
        target = self.random.choice(VARIABLES[kind])
        return f"{target} = {self.value(kind)};"

    def element(self, depth: int) -> str:
        index, item = self.value("i", 2), f"s.items[{self.value('u', 1)}%3]"
        return self.random.choice([
            f"s.arr[{index}&7] = {self.value('i')};",
            f"{item}.w = {self.value('l', 2)};",
            f"{item}.y = {self.value('h', 2)};",
            f"{item} = s.items[{self.value('u', 1)}%3];",
            f"s.bits.c[{index}&3] = {self.value('k', 2)};",
            f"s.bits.u ^= {self.value('u', 2)};",
            f"{{ const int* q = {self.value('p', 1)} ? s.arr : in + 8; "
            f"s.b = q[{index}&7]; }}",
            f"{{ int* q = {self.value('p', 1)} ? s.arr + 2 : &s.items[1].x; "
            f"*q = {self.value('i', 2)}; }}",
        ])  # fmt: skip

    def branch(self, depth: int) -> str:
        text = f"if ({self.value('p')}) {self.block(depth)}"
        return text + (
            f" else {self.block(depth)}" if self.random.random() < 0.6 else ""
        )

    def loop(self, depth: int) -> str:
        self.loops += 1
        self.counters += 1
        name, trips = (
            f"i{self.counters - 1}",
            self.random.choice(
                [f"({self.value('i', 1)}&3)", "3", f"({self.value('u', 1)}%5)"]
            ),
        )
        body = self.block(depth)
        self.loops -= 1
        return self.random.choice([
            f"for ({name} = 0; {name} < (int){trips} && --s.fuel > 0; ++{name}) {body}",
            f"while ({self.value('p', 2)} && --s.fuel > 0) {body}",
            f"do {body} while ({self.value('p', 2)} && --s.fuel > 0);",
            f"for (;;) {{ if (--s.fuel < 0 || {self.value('p', 2)}) break;\n{body} }}",
        ])  # fmt: skip

    def choice(self, depth: int) -> str:
        ways = self.random.choice([3, 4, 9, 17])
        cases = []
        for way in range(ways):
            end = "break;" if self.random.random() < 0.7 else ""
            body = self.block(depth - 1) if ways < 9 else self.assign(0)
            cases.append(f"case {way}: {body} {end}")
        last = f"default: {self.assign(0)}" if self.random.random() < 0.7 else ""
        inside = "\n".join(cases)
        return f"switch ({self.value('u', 2)} % {ways + 2}) {{ {inside}\n{last} }}"

    def leave(self, depth: int) -> str:
        if self.loops and self.random.random() < 0.7:
            word = self.random.choice(["break", "continue"])
            return f"if ({self.value('p', 2)}) {word};"
        if self.random.random() < 0.3:
            return f"if ({self.value('p', 2)}) {{ {self.assign(0)} return; }}"
        return self.assign(0)

    def jump(self, depth: int) -> str:
        label = self.random.randrange(self.labels)
        return f"if ({self.value('p', 2)} && --s.fuel > 0) goto L{label};"

    # -- functions -----------------------------------------------------------------

    def segment(self) -> str:
        """Write a function on the state of one thread; return its number."""
        self.labels = self.random.randint(1, 3) if self.jumps else 0
        self.placed = self.counters = 0
        lines = [self.statement(3) for _ in range(self.random.randint(2, 5))]
        lines += [f"L{n}: ;" for n in range(self.placed, self.labels)]
        names = "".join(f"int i{n} = 0; (void)i{n};\n" for n in range(self.counters))
        number = len(self.segments)
        self.segments.append(
            f"SEGMENT void seg{self.seed}_{number}(State& s, int t, const int* in) {{\n"
            + names + "\n".join(lines) + "\n}"
        )  # fmt: skip
        return f"seg{self.seed}_{number}(s, t, in);"

    def functions(self) -> str:
        """Device functions with a loop and with recursion, free of calls."""
        n, pick = self.seed, self.random
        return f"""
FN int climb{n}(int depth, int x) {{
  if (depth <= 0 || x == {pick.randint(0, 9)}) return x;
  if ((x & 3) == {pick.randint(0, 3)}) return climb{n}(depth - 2, x + depth) ^ 5;
  int kept[4] = {{x, depth, x ^ 3, {pick.randint(1, 99)}}};
  int below = climb{n}(depth - 1, kept[(unsigned)x % 4] >> 1);
  return (int)((unsigned)below + (unsigned)kept[depth & 3]);
}}
FN int call{n}(int x, unsigned y, float z, const int* in) {{
  int sum = to_int(z);
  for (unsigned i = 0; i < y % {pick.randint(2, 6)}; ++i) {{
    if ((x ^ i) & {pick.choice([1, 2, 4])}) continue;
    sum = (int)((unsigned)sum * 3u + (unsigned)in[(x + i) & 63]);
    if ((sum & 15) == {pick.randint(0, 15)}) return sum >> 1;
  }}
  return sum ^ x;
}}"""


def _each(text: str) -> str:
    """Host code that does `text` for every thread of the block."""
    return (
        "for (int t = 0; t < n; ++t) { State& s = all[t]; int lane = t & 31; "
        "int live = n - t + lane < 32 ? n - t + lane : 32; (void)live; (void)lane;\n"
        f"{text} }}"
    )


def _segment(writer: Writer) -> tuple[str, str]:
    call = writer.segment()
    return call, _each(call)


def _shuffle(writer: Writer) -> tuple[str, str]:
    pick = writer.random
    mode = pick.choice(["idx", "up", "down", "xor"])
    field, type_ = pick.choice([("a", "int"), ("u", "unsigned"), ("f", "float"),
                                ("l", "i64"), ("d", "double")])  # fmt: skip
    by, wide = pick.choice([1, 2, 5, 16]), pick.choice([32, 8])
    where = {
        "idx": f"(int)((lane * {by} + (s.v & 7)) % live)",
        "up": f"(lane % {wide} >= {by} ? lane - {by} : lane)",
        "down": f"(lane % {wide} + {by} < {wide} ? lane + {by} : lane)",
        "xor": f"(lane ^ {by})",
    }[mode]
    argument = "from" if mode == "idx" else str(by)
    wide = 32 if mode in ("idx", "xor") else wide
    name = "__shfl_sync" if mode == "idx" else f"__shfl_{mode}_sync"
    device = (
        f"{{ int from = {where}; {type_} got = {name}(FULL, s.{field}, {argument}, "
        f"{wide}); if (from < live) s.{field} = got; }}"
    )
    host = (
        f"{{ {type_} old[1024]; for (int t = 0; t < n; ++t) old[t] = all[t].{field};\n"
        + _each(
            f"int from = {where}; if (from < live) s.{field} = old[t - lane + from];"
        )
        + " }"
    )
    return device, host


def _vote(writer: Writer) -> tuple[str, str]:
    condition, group = writer.value("p", 2), writer.random.choice([32, 4, 16])
    mask = "FULL" if group == 32 else f"({(1 << group) - 1}u << (lane & {32 - group}))"
    device = (
        f"{{ unsigned mask = {mask}; bool yes = {condition};\n"
        "s.u ^= __ballot_sync(mask, yes); s.c = plus(s.c, __any_sync(mask, yes));"
        " s.e = plus(s.e, -__all_sync(mask, yes));\n"
        "s.v += __match_any_sync(mask, s.e & 3); }"
    )
    masks = (
        f"unsigned mask = {mask} & (live < 32 ? (1u << live) - 1 : FULL), votes = 0, "
        "alike = 0;\nfor (int j = 0; j < live; ++j) if (mask >> j & 1) "
    )
    host = (
        "{ bool yes[1024];\n" + _each(f"yes[t] = {condition};")
        + _each(masks + "votes |= (unsigned)yes[t - lane + j] << j;\n"
                "s.u ^= votes; s.c = plus(s.c, votes != 0); "
                "s.e = plus(s.e, -(votes == mask));")
        + "unsigned sums[1024];\n"
        + _each(masks + "alike |= (unsigned)((all[t - lane + j].e & 3) == (s.e & 3))"
                " << j;\nsums[t] = alike;")
        + _each("s.v += sums[t];") + " }"
    )  # fmt: skip
    return device, host


def _part(writer: Writer) -> tuple[str, str]:
    """Shuffle and vote among the lanes of each side of a branch."""
    condition = writer.value("p", 2)
    device = (
        f"{{ bool yes = {condition}; unsigned mask = __ballot_sync(FULL, yes);\n"
        "if (yes) { int got = __shfl_sync(mask, s.a, __ffs(mask) - 1); "
        "s.u ^= __ballot_sync(mask, s.b > 3); s.a = got; }\n"
        "else { mask = __ballot_sync(~mask, s.b & 1); s.c ^= mask; } }"
    )
    host = (
        "{ bool yes[1024]; int old[1024];\n"
        + _each(f"yes[t] = {condition}; old[t] = s.a;")
        + _each(
            "unsigned votes = 0; int first = -1;\nfor (int j = 0; j < live; ++j) {"
            " int o = t - lane + j; if (yes[o] != yes[t]) continue;\n"
            "if (first < 0) first = o; votes |= (unsigned)(yes[t] ? all[o].b > 3 :"
            " all[o].b & 1) << j; }\n"
            "if (yes[t]) { s.u ^= votes; s.a = old[first]; } else s.c ^= votes;"
        )
        + " }"
    )
    return device, host


def _tile(writer: Writer) -> tuple[str, str]:
    """Exchange values through shared memory."""
    by, kind = writer.random.choice([1, 3, 7, 13]), writer.random.choice("bc")
    index = f"(int)((unsigned)(t * {by} + (s.v & 15)) % n)"
    device = (
        f"tile[t] = s.{kind}; __syncthreads(); s.a = tile[{index}]; __syncthreads();"
    )
    host = _each(f"tile[t] = s.{kind};") + _each(f"s.a = tile[{index}];")
    return device, host


def _count(writer: Writer) -> tuple[str, str]:
    """Count threads at a barrier, and in atomics on shared and global memory."""
    condition, value = writer.value("p", 2), writer.value("i", 2)
    device = (
        f"if (t < 8) tile[t] = t; __syncthreads(); atomicAdd(&tile[{value}&7], s.b);\n"
        f"if ({condition}) atomicXor(&sums[{value}&7], s.a);\n"
        f"s.c = plus(s.c, __syncthreads_count({condition}));\n"
        "s.a ^= tile[t & 7]; __syncthreads();"
    )
    host = (
        "for (int t = 0; t < 8 && t < n; ++t) tile[t] = t; { int votes = 0;\n"
        + _each(
            f"tile[{value}&7] = (int)((unsigned)tile[{value}&7] + (unsigned)s.b);\n"
            f"if ({condition}) sums[{value}&7] ^= s.a; votes += (bool)({condition});"
        )
        + _each("s.c = plus(s.c, votes); s.a ^= tile[t & 7];")
        + " }"
    )
    return device, host


def _repeated(writer: Writer, ways) -> tuple[str, str]:
    """A loop that all threads run as often."""
    times = writer.random.randint(2, 3)
    parts = [writer.random.choice(ways)(writer) for _ in range(2)]
    texts = ["\n".join(part[side] for part in parts) for side in (0, 1)]
    turn = f"for (int turn = 0; turn < {times}; ++turn)"
    return tuple(f"{turn} {{ {text} }}" for text in texts)


_EXCHANGES = [_shuffle, _vote, _part, _tile, _count]


def program(seed: int) -> str:
    """The source of kernel `k<seed>` and of its twin `host<seed>`.

    Both take (const int* in, u64* out, int* sums); the host function also the numbers
    of blocks and of threads in a block, at most 1024.
    """
    writer = Writer(seed)
    pairs = [_segment(writer)]
    for _ in range(writer.random.choice([0, 2, 4])):
        way = writer.random.choice([*_EXCHANGES, _segment, None])
        ways = [*_EXCHANGES, _segment]
        pairs.append(_repeated(writer, ways) if way is None else way(writer))
    device, host = ("\n".join(pair[side] for pair in pairs) for side in (0, 1))
    return (
        writer.functions()
        + "\n"
        + "\n".join(writer.segments)
        + f"""
#ifdef __CUDACC__
extern "C" __global__ void k{seed}(const int* in, u64* out, int* sums) {{
  __shared__ int tile[1024];
  const unsigned FULL = 0xffffffffu;
  int n = blockDim.x * blockDim.y * blockDim.z, place = blockIdx.x * n;
  int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  int lane = t & 31, live = min(n - t + lane, 32);
  tile[t] = 0; (void)FULL; (void)lane; (void)live;
  for (int i = t; i < 8; i += n) tile[i] = 0;
  __syncthreads();
  State s; begin(s, t + place, in);
{device}
  out[place + t] = digest(s);
}}
#else
extern "C" void host{seed}(const int* in, u64* out, int* sums, int blocks, int n) {{
  const unsigned FULL = 0xffffffffu; (void)FULL;
  for (int place = 0; place < blocks * n; place += n) {{
    State all[1024]; int tile[1024] = {{}}; (void)tile;
    for (int t = 0; t < n; ++t) begin(all[t], t + place, in);
{host}
    for (int t = 0; t < n; ++t) out[place + t] = digest(all[t]);
  }}
}}
#endif
"""
    )


def source(seeds) -> str:
    """One file with the programs of several seeds."""
    return PRELUDE + "".join(program(seed) for seed in seeds)
