"""Addresses of the lanes, and bounds checks."""

from __future__ import annotations

from coursekit.simt.compiled.affine import LANES
from coursekit.simt.compiled.requests import Request
from coursekit.simt.compiled.runtime import Context
from coursekit.simt.compiled.tier import GIVE_UP, OWN, listed, splat, vector
from coursekit.simt.compiled.unit import WARP, bits
from coursekit.simt.ptx.ir import Immediate, Register, Symbol


class Addresses:
    """The address computations of `WarpCode`."""

    def base_address(self, request: Request) -> str:
        """Return the base as a scalar i64."""
        base = request.base
        if isinstance(base, Immediate):
            return str(int(base.value))
        if isinstance(base, Symbol):
            wide = self.symbol(base, "u32" if request.space == "shared" else "u64")
            return self._extended(wide, 32 if request.space == "shared" else 64)
        return self._extended(self.value(base).name, bits(base.type))

    def group_bases(self, request: Request) -> list[str]:
        """Return the base of each group of lanes as a scalar i64."""
        pattern = request.pattern
        if pattern.groups == 1:
            return [self.base_address(request)]
        name, width = self.value(request.base).name, bits(request.base.type)
        return [
            self._extended(
                self.out.op(
                    f"extractelement <{pattern.groups} x i{width}> {name}, i32 {group}"
                ),
                width,
            )
            for group in range(pattern.groups)
        ]

    def _extended(self, name: str, width: int) -> str:
        if width == 64 or not name.startswith("%"):
            return name
        return self.out.op(f"zext i{width} {name} to i64")

    def lane_addresses(self, request: Request) -> str:
        """Return the addresses of all lanes as a vector of i64."""
        out, base = self.out, request.base
        if not isinstance(base, Register):
            name = self.broadcast("i64", self.base_address(request))
        else:
            name = self.wide(base)
            width = bits(base.type)
            if width < 64:
                if request.constant:
                    one = splat(f"i{width}", request.constant)
                    name = out.op(f"add {vector(f'i{width}')} {name}, {one}")
                return out.op(f"zext {vector(f'i{width}')} {name} to {vector('i64')}")
        if request.constant:
            name = out.op(
                f"add {vector('i64')} {name}, {splat('i64', request.constant)}"
            )
        return name

    def inside(self, space: str, site: str, ends, loads: bool) -> str:
        """Return an i1: bytes [low, high) lie in one array; a site caches the array."""
        out, (low, high) = self.out, ends
        first = self.field(site, 0, "i64")
        last = self.field(site, 8, "i64")
        above = out.op(f"icmp uge i64 {low}, {first}")
        below = out.op(f"icmp ule i64 {high}, {last}")
        forward = out.op(f"icmp ult i64 {low}, {high}")
        known = out.op(f"and i1 {above}, {below}")
        known = out.op(f"and i1 {known}, {forward}")
        return self.otherwise(known, lambda: self._find(space, site, ends, loads))

    def otherwise(self, known: str, search) -> str:
        """Return `known`, or the result of `search` where it is false."""
        out = self.out
        here, there, after = out.fresh("here"), out.fresh("search"), out.fresh("after")
        out.line(f"br label %{here}")
        out.label(here)
        out.line(f"br i1 {known}, label %{after}, label %{there}, !prof !7")
        out.label(there)
        found = search()
        out.line(f"br label %{after}")
        out.label(after)
        return out.op(f"phi i1 [ true, %{here} ], [ {found}, %{there} ]")

    def _find(self, space, site, ends, loads) -> str:
        ends = f"i64 {ends[0]}, i64 {ends[1]}"
        if space == "shared":
            self.out.declare("declare i1 @ck_find_shared(ptr, ptr, i64, i64)")
            return self.out.op(f"call i1 @ck_find_shared(ptr %ctx, ptr {site}, {ends})")
        self.out.declare("declare i1 @ck_find(ptr, ptr, i64, i64, i32)")
        return self.out.op(
            f"call i1 @ck_find(ptr %ctx, ptr {site}, {ends}, i32 {int(not loads)})"
        )

    def site(self) -> str:
        """Return a pointer to a new site."""
        self.sites += 1
        return self.out.op(f"getelementptr i8, ptr %sites, i64 {32 * (self.sites - 1)}")

    def within(self, request: Request, bases: list[str]) -> tuple[str, str]:
        """Return whether a patterned access is legal, and how far the host's is."""
        return self.within_bounds(request, bases, request.reach, request.loads)

    def within_bounds(self, request, bases, reach, loads) -> tuple[str, str]:
        """Check several accesses from one base, which reach these bytes."""
        out = self.out
        first = out.op(f"add i64 {self._extreme('umin', bases)}, {reach[0]}")
        past = out.op(f"add i64 {self._extreme('umax', bases)}, {reach[1]}")
        if request.space == "local":
            limit = self.unit.code.local_bytes
            legal = out.op(f"icmp sle i64 {past}, {limit}")
            positive = out.op(f"icmp sge i64 {first}, 0")
            legal = out.op(f"and i1 {legal}, {positive}")
            distance = self._local_start()
        else:
            site = self.site()
            legal = self.inside(request.space, site, (first, past), loads)
            distance = self.field(site, 16, "i64")
        if self._misaligned(request):
            return "false", distance
        rest = request.pattern.offsets[0] + request.constant
        if (
            request.pattern.zeros < (request.width - 1).bit_length()
            or rest % request.width
        ):
            for base in bases:
                place = out.op(f"add i64 {base}, {rest}")
                place = out.op(f"and i64 {place}, {request.width - 1}")
                aligned = out.op(f"icmp eq i64 {place}, 0")
                legal = out.op(f"and i1 {legal}, {aligned}")
        return legal, distance

    def _extreme(self, which: str, names: list[str]) -> str:
        found = names[0]
        for name in names[1:]:
            self.out.declare(f"declare i64 @llvm.{which}.i64(i64, i64)")
            found = self.out.op(f"call i64 @llvm.{which}.i64(i64 {found}, i64 {name})")
        return found

    @staticmethod
    def _misaligned(request: Request) -> bool:
        first = request.pattern.offsets[0]
        return any((o - first) % request.width for o in request.pattern.offsets)

    def _local_start(self) -> str:
        out = self.out
        start = self.field("%ctx", 8 * Context.LOCAL_BASE, "i64")
        each = self.field("%ctx", 8 * Context.LOCAL_BYTES, "i64")
        warp = out.op(f"zext i32 {self.field('%record', WARP, 'i32')} to i64")
        offset = out.op(f"mul i64 {warp}, {each}")
        return out.op(f"add i64 {start}, {offset}")

    def host_addresses(self, request: Request, addresses: str, mask: str) -> str:
        """Return host addresses of a mask's lanes; illegal ones end the code."""
        out, wide = self.out, vector("i64")
        if request.space == "local":
            return self._local_lanes(request, addresses, mask)
        twin = "_shared" if request.space == "shared" else ""
        out.declare(f"declare i1 @ck_resolve{twin}(ptr, ptr, ptr, i32, i32, i32, ptr)")
        out.declare(_HOSTS.format(twin=twin))
        legal = out.op(
            f"call i1 @hosts{twin}(ptr %ctx, ptr {self.site()}, {wide} {addresses}, "
            f"i32 {mask}, i32 {request.width}, i32 {int(not request.loads)}, "
            "ptr %lanes, ptr %found)"
        )
        self.require(legal)
        return out.op(f"load {wide}, ptr %found, align 64, {OWN}")

    def unless_aligned(self, request, addresses, mask) -> None:
        """Leave compiled code if an address is misaligned for the access."""
        if request.width == 1:
            return
        out, wide = self.out, vector("i64")
        rest = out.op(f"and {wide} {addresses}, {splat('i64', request.width - 1)}")
        off = out.op(f"icmp ne {wide} {rest}, zeroinitializer")
        some = out.op(f"and i32 {self.as_bits(off)}, {mask}")
        self.require(out.op(f"icmp eq i32 {some}, 0"))

    def _local_lanes(self, request, addresses, mask) -> str:
        out, wide = self.out, vector("i64")
        limit = splat("i64", self.unit.code.local_bytes - request.width)
        over = out.op(f"icmp ugt {wide} {addresses}, {limit}")
        self.unless_aligned(request, addresses, mask)
        some = out.op(f"and i32 {self.as_bits(over)}, {mask}")
        self.require(out.op(f"icmp eq i32 {some}, 0"))
        start = self.broadcast("i64", self._local_start())
        lanes = listed("i64", [lane * self.unit.local_stride for lane in range(LANES)])
        start = out.op(f"add {wide} {start}, {lanes}")
        return out.op(f"add {wide} {addresses}, {start}")

    def require(self, condition: str) -> None:
        """Leave compiled code for the interpreter unless a condition holds."""
        out = self.out
        fine, gone = out.fresh("fine"), out.fresh("give_up")
        out.line(f"br i1 {condition}, label %{fine}, label %{gone}, !prof !7")
        out.label(gone)
        out.line(f"ret i32 {GIVE_UP}")
        out.label(fine)


_HOSTS = """
; Host addresses of the lanes of a mask; false if one may not be accessed.
define internal i1 @hosts{twin}(ptr %ctx, ptr %site, <32 x i64> %at, i32 %mask,
    i32 %width, i32 %write, ptr %lanes, ptr %found) noinline {{
  %bytes = zext i32 %width to i64
  %b0 = insertelement <32 x i64> poison, i64 %bytes, i32 0
  %b = shufflevector <32 x i64> %b0, <32 x i64> poison, <32 x i32> zeroinitializer
  %less = sub <32 x i64> %b, splat (i64 1)
  %rest = and <32 x i64> %at, %less
  %off = icmp ne <32 x i64> %rest, zeroinitializer
  %low = load i64, ptr %site
  %endp = getelementptr i8, ptr %site, i64 8
  %end = load i64, ptr %endp
  %last = sub i64 %end, %bytes
  %l0 = insertelement <32 x i64> poison, i64 %low, i32 0
  %l = shufflevector <32 x i64> %l0, <32 x i64> poison, <32 x i32> zeroinitializer
  %h0 = insertelement <32 x i64> poison, i64 %last, i32 0
  %h = shufflevector <32 x i64> %h0, <32 x i64> poison, <32 x i32> zeroinitializer
  %within = icmp ule i64 %low, %last
  %ends = icmp ule i64 %last, %end
  %noted = and i1 %within, %ends
  %under = icmp ult <32 x i64> %at, %l
  %over = icmp ugt <32 x i64> %at, %h
  %outside = or <32 x i1> %under, %over
  %offs = bitcast <32 x i1> %off to i32
  %outs = bitcast <32 x i1> %outside to i32
  %offm = and i32 %offs, %mask
  %outn = select i1 %noted, i32 %outs, i32 -1
  %outm = and i32 %outn, %mask
  %aligned = icmp eq i32 %offm, 0
  br i1 %aligned, label %place, label %wrong
wrong:
  ret i1 false
place:
  %inside = icmp eq i32 %outm, 0
  br i1 %inside, label %near, label %far
near:
  %farp = getelementptr i8, ptr %site, i64 16
  %away = load i64, ptr %farp
  %d0 = insertelement <32 x i64> poison, i64 %away, i32 0
  %d = shufflevector <32 x i64> %d0, <32 x i64> poison, <32 x i32> zeroinitializer
  %host = add <32 x i64> %at, %d
  store <32 x i64> %host, ptr %found, align 64
  ret i1 true
far:
  store <32 x i64> %at, ptr %lanes, align 64
  %r = call i1 @ck_resolve{twin}(ptr %ctx, ptr %site, ptr %lanes, i32 %mask,
    i32 %width, i32 %write, ptr %found)
  ret i1 %r
}}"""
