"""LLVM IR functions that advance the stamps of the race check."""

from __future__ import annotations

from coursekit.simt.compiled.runtime import Context
from coursekit.simt.compiled.stamps import SYNCHRONISED, Form
from coursekit.simt.compiled.stamps import RaceContext as _C
from coursekit.simt.compiled.unit import EXISTING, LIVE

UNWATCHED = 1  # in place of the distance to an array's words: it has none


def at(field: int) -> int:
    """Return the byte offset of a field of the context."""
    return 8 * field


_TICK = f"""
define internal i32 @race_tick(ptr %ctx) {{{{
  %nowp = getelementptr i8, ptr %ctx, i64 {at(_C.NOW)}
  %now = load i32, ptr %nowp
  %next = add i32 %now, {{step}}
  store i32 %next, ptr %nowp
  %wraps = icmp ult i32 %next, %now
  %flag = zext i1 %wraps to i64
  %overp = getelementptr i8, ptr %ctx, i64 {at(_C.OVERFLOWS)}
  %over = load i64, ptr %overp
  %either = or i64 %over, %flag
  store i64 %either, ptr %overp
  ret i32 %next
}}}}"""
_ENTER = f"""
; A warp runs: of a block that has just begun, perhaps.
define internal void @race_enter(ptr %ctx) noinline {{{{
  %positionp = getelementptr i8, ptr %ctx, i64 {at(Context.POSITION)}
  %position = load i64, ptr %positionp
  %seenp = getelementptr i8, ptr %ctx, i64 {at(_C.SEEN)}
  %seen = load i64, ptr %seenp
  %old = icmp eq i64 %seen, %position
  br i1 %old, label %done, label %begins
begins:
  store i64 %position, ptr %seenp
  %now = call i32 @race_tick(ptr %ctx)
  %begunp = getelementptr i8, ptr %ctx, i64 {at(_C.BEGUN)}
  store i32 %now, ptr %begunp
  %barrierp = getelementptr i8, ptr %ctx, i64 {at(_C.BARRIER)}
  store i32 %now, ptr %barrierp{{clearing}}
  br label %done
done:
  ret void
}}}}"""
_CLEARING = f"""
  %shadowp = getelementptr i8, ptr %ctx, i64 {at(_C.SHADOW)}
  %shadow = load ptr, ptr %shadowp
  %bytesp = getelementptr i8, ptr %ctx, i64 {at(_C.SHADOW_BYTES)}
  %bytes = load i64, ptr %bytesp
  call void @llvm.memset.p0.i64(ptr %shadow, i8 0, i64 %bytes, i1 false)"""
_BARRIER = f"""
; A warp reaches the barrier, or leaves the kernel; it opens the barrier if it is the
; last of the block.
define internal void @race_barrier(ptr %ctx, ptr %record) noinline {{
  %waitingp = getelementptr i8, ptr %ctx, i64 {at(Context.WAITING)}
  %waiting = load i64, ptr %waitingp
  %existp = getelementptr i8, ptr %record, i64 {EXISTING}
  %exist = load i32, ptr %existp
  %count = call i32 @llvm.ctpop.i32(i32 %exist)
  %more = zext i32 %count to i64
  %all = add i64 %waiting, %more
  %threadsp = getelementptr i8, ptr %ctx, i64 {at(Context.THREADS)}
  %threads = load i64, ptr %threadsp
  %last = icmp eq i64 %all, %threads
  br i1 %last, label %opens, label %done
opens:
  %now = call i32 @race_tick(ptr %ctx)
  %barrierp = getelementptr i8, ptr %ctx, i64 {at(_C.BARRIER)}
  store i32 %now, ptr %barrierp
  br label %done
done:
  ret void
}}"""
_MEET = f"""
; Lanes of a warp synchronise; that counts if all of its lanes do.
define internal void @race_meet(ptr %ctx, ptr %record, i32 %mask) noinline {{
  %livep = getelementptr i8, ptr %record, i64 {LIVE}
  %live = load i32, ptr %livep
  %all = icmp eq i32 %live, %mask
  br i1 %all, label %synchronises, label %done
synchronises:
  %now = call i32 @race_tick(ptr %ctx)
  %synchronisedp = getelementptr i8, ptr %record, i64 {SYNCHRONISED}
  store i32 %now, ptr %synchronisedp
  br label %done
done:
  ret void
}}"""
WATCHED = f"""
; Whether a slot of device memory has words, or has been given them.
define internal i1 @race_watched(ptr %ctx, ptr %row) {{
  %word = load i64, ptr %row
  %bit = and i64 %word, {UNWATCHED}
  %none = icmp ne i64 %bit, 0
  br i1 %none, label %ask, label %fine
ask:
  %tablep = getelementptr i8, ptr %ctx, i64 {at(_C.TABLE)}
  %table = load i64, ptr %tablep
  %at = ptrtoint ptr %row to i64
  %bytes = sub i64 %at, %table
  %slot = lshr i64 %bytes, 5
  %watchp = getelementptr i8, ptr %ctx, i64 {at(_C.WATCH)}
  %watch = load ptr, ptr %watchp
  %answer = call i32 %watch(i64 %slot)
  %now = load i64, ptr %row
  %nothing = and i64 %now, {UNWATCHED}
  %made = icmp eq i64 %nothing, 0
  %goes = icmp eq i32 %answer, 0
  %good = and i1 %made, %goes
  ret i1 %good
fine:
  ret i1 true
}}"""


def declare_times(out, form: Form, clears: bool) -> None:
    """Declare functions that advance stamps at blocks, barriers and warps.

    With `clears`, the writers of shared memory are forgotten when a block begins.
    """
    out.declare("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
    out.declare("declare i32 @llvm.ctpop.i32(i32)")
    out.declare(_TICK.format(step=1 << form.shift))
    out.declare(_ENTER.format(clearing=_CLEARING if clears else ""))
    out.declare(_BARRIER)
    out.declare(_MEET)
