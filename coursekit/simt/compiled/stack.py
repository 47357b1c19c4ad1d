"""Divergence and reconvergence of lanes in compiled code, as LLVM IR.

The stack has entries (block, lanes, outer): a split of lanes that still has to go to a
block, its number plus SPLIT, or a reconvergence in a block with the lanes that arrived.
`outer` is the index of the reconvergence around it, -1 for none. Functions return the
stretch that runs next, -1 if no lane is left, -2 if all lanes are together.
"""

from __future__ import annotations

from coursekit.simt.compiled.unit import (
    DEPTH,
    LIVE,
    MASK,
    RECONVERGENCE,
    RESUME,
    STACK,
    STACK_ENTRIES,
    TARGET,
)

SPLIT = 1 << 30

STACK_CODE = f"""
define internal ptr @entry(ptr %record, i32 %index) alwaysinline {{
  %bytes = mul i32 %index, 12
  %at = add i32 %bytes, {STACK}
  %p = getelementptr i8, ptr %record, i32 %at
  ret ptr %p
}}
define internal void @push(ptr %record, i32 %block, i32 %lanes, i32 %reconvergence) {{
  %dp = getelementptr i8, ptr %record, i32 {DEPTH}
  %depth = load i32, ptr %dp
  %e = call ptr @entry(ptr %record, i32 %depth)
  store i32 %block, ptr %e
  %lp = getelementptr i8, ptr %e, i32 4
  store i32 %lanes, ptr %lp
  %mp = getelementptr i8, ptr %e, i32 8
  store i32 %reconvergence, ptr %mp
  %deeper = add i32 %depth, 1
  store i32 %deeper, ptr %dp
  ret void
}}
; Make a reconvergence the innermost one.
define internal void @enter(ptr %record, i32 %reconvergence) {{
  %cp = getelementptr i8, ptr %record, i32 {RECONVERGENCE}
  store i32 %reconvergence, ptr %cp
  %tp = getelementptr i8, ptr %record, i32 {TARGET}
  %none = icmp slt i32 %reconvergence, 0
  br i1 %none, label %outermost, label %inside
outermost:
  store i32 -9, ptr %tp
  ret void
inside:
  %e = call ptr @entry(ptr %record, i32 %reconvergence)
  %target = load i32, ptr %e
  store i32 %target, ptr %tp
  ret void
}}
; Lanes reach the innermost reconvergence.
define internal void @join(ptr %record, i32 %lanes) {{
  %cp = getelementptr i8, ptr %record, i32 {RECONVERGENCE}
  %reconvergence = load i32, ptr %cp
  %e = call ptr @entry(ptr %record, i32 %reconvergence)
  %lp = getelementptr i8, ptr %e, i32 4
  %old = load i32, ptr %lp
  %new = or i32 %old, %lanes
  store i32 %new, ptr %lp
  ret void
}}
; Take the next lanes from the stack.
define internal i32 @next(ptr %record) {{
start:
  %dp = getelementptr i8, ptr %record, i32 {DEPTH}
  %maskp = getelementptr i8, ptr %record, i32 {MASK}
  %cp = getelementptr i8, ptr %record, i32 {RECONVERGENCE}
  br label %pop
pop:
  %depth = load i32, ptr %dp
  %empty = icmp eq i32 %depth, 0
  br i1 %empty, label %gone, label %take
gone:
  ret i32 -1
take:
  %top = sub i32 %depth, 1
  store i32 %top, ptr %dp
  %e = call ptr @entry(ptr %record, i32 %top)
  %block = load i32, ptr %e
  %lp = getelementptr i8, ptr %e, i32 4
  %lanes = load i32, ptr %lp
  %mp = getelementptr i8, ptr %e, i32 8
  %outer = load i32, ptr %mp
  call void @enter(ptr %record, i32 %outer)
  %splits = icmp sge i32 %block, {SPLIT}
  br i1 %splits, label %split, label %reconvergence
split:
  store i32 %lanes, ptr %maskp
  %plain = sub i32 %block, {SPLIT}
  ret i32 %plain
reconvergence:
  %none = icmp eq i32 %lanes, 0
  br i1 %none, label %pop, label %arrived
arrived:
  %tp = getelementptr i8, ptr %record, i32 {TARGET}
  %target = load i32, ptr %tp
  %again = icmp eq i32 %target, %block
  br i1 %again, label %rejoin, label %released
rejoin:
  call void @join(ptr %record, i32 %lanes)
  br label %pop
released:
  store i32 %lanes, ptr %maskp
  %whole = icmp eq i32 %lanes, -1
  %last = icmp eq i32 %top, 0
  %fast = and i1 %whole, %last
  br i1 %fast, label %together, label %apart
together:
  %rp = getelementptr i8, ptr %record, i32 {RESUME}
  %number = add i32 %block, 1
  store i32 %number, ptr %rp
  ret i32 -2
apart:
  ret i32 %block
}}
; The active lanes leave the kernel.
define internal i32 @leave(ptr %record) noinline {{
  %maskp = getelementptr i8, ptr %record, i32 {MASK}
  %mask = load i32, ptr %maskp
  call void @exit(ptr %record, i32 %mask)
  %n = call i32 @next(ptr %record)
  ret i32 %n
}}
define internal void @exit(ptr %record, i32 %lanes) {{
  %lp = getelementptr i8, ptr %record, i32 {LIVE}
  %live = load i32, ptr %lp
  %others = xor i32 %lanes, -1
  %left = and i32 %live, %others
  store i32 %left, ptr %lp
  ret void
}}
; Lanes that wait to return from the kernel in a block leave without the others; which.
define internal i32 @return_early(ptr %record, i32 %block) noinline {{
start:
  %dp = getelementptr i8, ptr %record, i32 {DEPTH}
  %depth = load i32, ptr %dp
  br label %next
next:
  %index = phi i32 [ 0, %start ], [ %following, %look ]
  %lanes = phi i32 [ 0, %start ], [ %found, %look ]
  %more = icmp slt i32 %index, %depth
  br i1 %more, label %look, label %done
look:
  %e = call ptr @entry(ptr %record, i32 %index)
  %target = load i32, ptr %e
  %lp = getelementptr i8, ptr %e, i32 4
  %waiting = load i32, ptr %lp
  %here = icmp eq i32 %target, %block
  %leaving = select i1 %here, i32 %waiting, i32 0
  %staying = select i1 %here, i32 0, i32 %waiting
  store i32 %staying, ptr %lp
  %found = or i32 %lanes, %leaving
  %following = add i32 %index, 1
  br label %next
done:
  call void @exit(ptr %record, i32 %lanes)
  ret i32 %lanes
}}
; The active lanes reach the innermost reconvergence.
define internal i32 @arrive(ptr %record) noinline {{
  %maskp = getelementptr i8, ptr %record, i32 {MASK}
  %mask = load i32, ptr %maskp
  call void @join(ptr %record, i32 %mask)
  %n = call i32 @next(ptr %record)
  ret i32 %n
}}
; Lanes go one of two ways, which reconverge in a block (-1: they do not).
define internal i32 @diverge(ptr %record, i32 %jump, i32 %taken, i32 %stay,
    i32 %rest, i32 %join) noinline {{
start:
  %dp = getelementptr i8, ptr %record, i32 {DEPTH}
  %depth = load i32, ptr %dp
  %deep = icmp sgt i32 %depth, {STACK_ENTRIES - 4}
  br i1 %deep, label %full, label %room
full:
  ret i32 -3
room:
  %tp = getelementptr i8, ptr %record, i32 {TARGET}
  %target = load i32, ptr %tp
  %known = icmp eq i32 %target, %join
  %never = icmp slt i32 %join, 0
  %keeps = or i1 %known, %never
  br i1 %keeps, label %ways, label %opens
opens:
  %cp = getelementptr i8, ptr %record, i32 {RECONVERGENCE}
  %outer = load i32, ptr %cp
  call void @push(ptr %record, i32 %join, i32 0, i32 %outer)
  call void @enter(ptr %record, i32 %depth)
  br label %ways
ways:
  call void @way(ptr %record, i32 %jump, i32 %taken)
  call void @way(ptr %record, i32 %stay, i32 %rest)
  %n = call i32 @next(ptr %record)
  ret i32 %n
}}
define internal void @way(ptr %record, i32 %block, i32 %lanes) {{
start:
  %leaves = icmp slt i32 %block, 0
  br i1 %leaves, label %out, label %stays
out:
  call void @exit(ptr %record, i32 %lanes)
  ret void
stays:
  %tp = getelementptr i8, ptr %record, i32 {TARGET}
  %target = load i32, ptr %tp
  %there = icmp eq i32 %target, %block
  br i1 %there, label %arrived, label %goes
arrived:
  call void @join(ptr %record, i32 %lanes)
  ret void
goes:
  %cp = getelementptr i8, ptr %record, i32 {RECONVERGENCE}
  %reconvergence = load i32, ptr %cp
  %split = add i32 %block, {SPLIT}
  call void @push(ptr %record, i32 %split, i32 %lanes, i32 %reconvergence)
  ret void
}}
"""
