; Helpers that every compiled kernel calls: counting, finding memory, scheduling.
;
; The layouts of the context, of the tables it points to and of a warp's record are in
; runtime.py. Lane i of a warp is bit i of a mask; masks are never 0. Pointers to the
; values of 32 lanes are aligned to 64 bytes. Sketches in C stand above each function.
;
; Only vectors and intrinsics of LLVM that every machine has are used; LLVM chooses the
; instructions. Functions of one or two lines are inlined everywhere.

declare i32 @llvm.cttz.i32(i32, i1)
declare i32 @llvm.ctpop.i32(i32)
declare i64 @llvm.ctpop.i64(i64)
declare i64 @llvm.umax.i64(i64, i64)
declare i32 @llvm.umax.i32(i32, i32)
declare <32 x i32> @llvm.umin.v32i32(<32 x i32>, <32 x i32>)
declare <32 x i32> @llvm.umax.v32i32(<32 x i32>, <32 x i32>)
declare <32 x i8> @llvm.umax.v32i8(<32 x i8>, <32 x i8>)
declare i32 @llvm.vector.reduce.or.v32i32(<32 x i32>)
declare i64 @llvm.vector.reduce.or.v32i64(<32 x i64>)
declare i64 @llvm.vector.reduce.add.v32i64(<32 x i64>)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

; ======================================================================================
; Lanes
; ======================================================================================

; The same value in every lane.
define internal <32 x i64> @all_i64(i64 %value) alwaysinline {
  %one = insertelement <32 x i64> poison, i64 %value, i64 0
  %all = shufflevector <32 x i64> %one, <32 x i64> poison, <32 x i32> zeroinitializer
  ret <32 x i64> %all
}

define internal <32 x i32> @all_i32(i32 %value) alwaysinline {
  %one = insertelement <32 x i32> poison, i32 %value, i64 0
  %all = shufflevector <32 x i32> %one, <32 x i32> poison, <32 x i32> zeroinitializer
  ret <32 x i32> %all
}

; values[first lane of the mask]
define internal i64 @first(ptr %values, i32 %mask) alwaysinline {
  %lane = call i32 @llvm.cttz.i32(i32 %mask, i1 true)
  %wide = zext i32 %lane to i64
  %at = getelementptr i64, ptr %values, i64 %wide
  %value = load i64, ptr %at, align 8
  ret i64 %value
}

; The values of the lanes; inactive lanes get that of the first active lane, which adds
; nothing to a set of values.
define internal <32 x i64> @active_lanes(ptr %values, i32 %mask) alwaysinline {
entry:
  %all = load <32 x i64>, ptr %values, align 64
  %whole = icmp eq i32 %mask, -1
  br i1 %whole, label %done, label %choose
choose:
  %value = call i64 @first(ptr %values, i32 %mask)
  %others = call <32 x i64> @all_i64(i64 %value)
  %active = bitcast i32 %mask to <32 x i1>
  %some = select <32 x i1> %active, <32 x i64> %all, <32 x i64> %others
  br label %done
done:
  %lanes = phi <32 x i64> [ %all, %entry ], [ %some, %choose ]
  ret <32 x i64> %lanes
}

; up_k: every lane gets the value of the lane k below it; the lowest k keep theirs.
define internal <32 x i32> @up_1(<32 x i32> %values) alwaysinline {
  %moved = shufflevector <32 x i32> %values, <32 x i32> poison, <32 x i32>
    <i32  0, i32  0, i32  1, i32  2, i32  3, i32  4, i32  5, i32  6,
     i32  7, i32  8, i32  9, i32 10, i32 11, i32 12, i32 13, i32 14,
     i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22,
     i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30>
  ret <32 x i32> %moved
}

define internal <32 x i32> @up_2(<32 x i32> %values) alwaysinline {
  %moved = shufflevector <32 x i32> %values, <32 x i32> poison, <32 x i32>
    <i32  0, i32  1, i32  0, i32  1, i32  2, i32  3, i32  4, i32  5,
     i32  6, i32  7, i32  8, i32  9, i32 10, i32 11, i32 12, i32 13,
     i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21,
     i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29>
  ret <32 x i32> %moved
}

define internal <32 x i32> @up_4(<32 x i32> %values) alwaysinline {
  %moved = shufflevector <32 x i32> %values, <32 x i32> poison, <32 x i32>
    <i32  0, i32  1, i32  2, i32  3, i32  0, i32  1, i32  2, i32  3,
     i32  4, i32  5, i32  6, i32  7, i32  8, i32  9, i32 10, i32 11,
     i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19,
     i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27>
  ret <32 x i32> %moved
}

define internal <32 x i32> @up_8(<32 x i32> %values) alwaysinline {
  %moved = shufflevector <32 x i32> %values, <32 x i32> poison, <32 x i32>
    <i32  0, i32  1, i32  2, i32  3, i32  4, i32  5, i32  6, i32  7,
     i32  0, i32  1, i32  2, i32  3, i32  4, i32  5, i32  6, i32  7,
     i32  8, i32  9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15,
     i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  ret <32 x i32> %moved
}

define internal <32 x i32> @up_16(<32 x i32> %values) alwaysinline {
  %moved = shufflevector <32 x i32> %values, <32 x i32> poison, <32 x i32>
    <i32  0, i32  1, i32  2, i32  3, i32  4, i32  5, i32  6, i32  7,
     i32  8, i32  9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15,
     i32  0, i32  1, i32  2, i32  3, i32  4, i32  5, i32  6, i32  7,
     i32  8, i32  9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  ret <32 x i32> %moved
}

; One step of @fill_gaps: lanes without a value of their own take the offered one.
define internal <32 x i32> @fill(<32 x i32> %values, <32 x i32> %offered, i32 %known)
    alwaysinline {
  %keep = bitcast i32 %known to <32 x i1>
  %filled = select <32 x i1> %keep, <32 x i32> %values, <32 x i32> %offered
  ret <32 x i32> %filled
}

; Inactive lanes get the value of the nearest active lane below them, so that values
; that rise or fall with the lane still do. Lane 0 must have a fitting value already.
;   known = mask | 1;
;   for (k = 1; k < 32; k *= 2) {
;     values = known ? values : up(values, k); known |= known << k;
;   }
define internal <32 x i32> @fill_gaps(<32 x i32> %values, i32 %mask) alwaysinline {
entry:
  %whole = icmp eq i32 %mask, -1
  br i1 %whole, label %done, label %gaps
gaps:
  %k1 = or i32 %mask, 1
  %u1 = call <32 x i32> @up_1(<32 x i32> %values)
  %v1 = call <32 x i32> @fill(<32 x i32> %values, <32 x i32> %u1, i32 %k1)
  %s1 = shl i32 %k1, 1
  %k2 = or i32 %k1, %s1
  %u2 = call <32 x i32> @up_2(<32 x i32> %v1)
  %v2 = call <32 x i32> @fill(<32 x i32> %v1, <32 x i32> %u2, i32 %k2)
  %s2 = shl i32 %k2, 2
  %k4 = or i32 %k2, %s2
  %u4 = call <32 x i32> @up_4(<32 x i32> %v2)
  %v4 = call <32 x i32> @fill(<32 x i32> %v2, <32 x i32> %u4, i32 %k4)
  %s4 = shl i32 %k4, 4
  %k8 = or i32 %k4, %s4
  %u8 = call <32 x i32> @up_8(<32 x i32> %v4)
  %v8 = call <32 x i32> @fill(<32 x i32> %v4, <32 x i32> %u8, i32 %k8)
  %s8 = shl i32 %k8, 8
  %k16 = or i32 %k8, %s8
  %u16 = call <32 x i32> @up_16(<32 x i32> %v8)
  %v16 = call <32 x i32> @fill(<32 x i32> %v8, <32 x i32> %u16, i32 %k16)
  br label %done
done:
  %filled = phi <32 x i32> [ %values, %entry ], [ %v16, %gaps ]
  ret <32 x i32> %filled
}

; Whether all values are less than 2^bits.
;   (values[0] | values[1] | ...) >> bits == 0, eight lanes at a time
define internal i1 @all_below(<32 x i64> %values, i64 %bits) alwaysinline {
  %v0 = shufflevector <32 x i64> %values, <32 x i64> poison, <8 x i32>
    <i32  0, i32  1, i32  2, i32  3, i32  4, i32  5, i32  6, i32  7>
  %v1 = shufflevector <32 x i64> %values, <32 x i64> poison, <8 x i32>
    <i32  8, i32  9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v2 = shufflevector <32 x i64> %values, <32 x i64> poison, <8 x i32>
    <i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %v3 = shufflevector <32 x i64> %values, <32 x i64> poison, <8 x i32>
    <i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %v01 = or <8 x i64> %v0, %v1
  %v23 = or <8 x i64> %v2, %v3
  %some = or <8 x i64> %v01, %v23
  %beyond = shl i64 -1, %bits
  %one = insertelement <8 x i64> poison, i64 %beyond, i64 0
  %high = shufflevector <8 x i64> %one, <8 x i64> poison, <8 x i32> zeroinitializer
  %above = and <8 x i64> %some, %high
  %wrong = icmp ne <8 x i64> %above, zeroinitializer
  %set = bitcast <8 x i1> %wrong to i8
  %none = icmp eq i8 %set, 0
  ret i1 %none
}

; The difference of each lane to an origin as u32, where all of them fit.
;   fits = all lanes: origin <= value < origin + 2^32
define internal { <32 x i32>, i1 } @offsets(<32 x i64> %values, i64 %origin)
    alwaysinline {
  %origins = call <32 x i64> @all_i64(i64 %origin)
  %wide = sub <32 x i64> %values, %origins
  %narrow = trunc <32 x i64> %wide to <32 x i32>
  %fits = call i1 @all_below(<32 x i64> %wide, i64 32)
  %half = insertvalue { <32 x i32>, i1 } poison, <32 x i32> %narrow, 0
  %both = insertvalue { <32 x i32>, i1 } %half, i1 %fits, 1
  ret { <32 x i32>, i1 } %both
}

; Places of values in a window of 64 that begins 32 before the first one; they are
; inside if @all_below 2^6 then.
define internal <32 x i64> @places(<32 x i64> %values, i64 %first) alwaysinline {
  %origin = sub i64 %first, 32
  %origins = call <32 x i64> @all_i64(i64 %origin)
  %places = sub <32 x i64> %values, %origins
  ret <32 x i64> %places
}

; {place : place of some lane}, as bits; places are 0..63.
define internal i64 @place_set(<32 x i64> %places) alwaysinline {
  %each = shl <32 x i64> splat (i64 1), %places
  %set = call i64 @llvm.vector.reduce.or.v32i64(<32 x i64> %each)
  ret i64 %set
}

; ======================================================================================
; Sorting 32 values: a bitonic network
; ======================================================================================

; Lanes named in `low` keep the smaller value of a pair, their partners the larger one.
define internal <32 x i32> @exchange(<32 x i32> %values, <32 x i32> %others, i32 %low)
    alwaysinline {
  %small = call <32 x i32> @llvm.umin.v32i32(<32 x i32> %values, <32 x i32> %others)
  %large = call <32 x i32> @llvm.umax.v32i32(<32 x i32> %values, <32 x i32> %others)
  %keep = bitcast i32 %low to <32 x i1>
  %sorted = select <32 x i1> %keep, <32 x i32> %small, <32 x i32> %large
  ret <32 x i32> %sorted
}

; exchange_k: the partner of lane i is lane i ^ k.
define internal <32 x i32> @exchange_1(<32 x i32> %values) alwaysinline {
  %others = shufflevector <32 x i32> %values, <32 x i32> poison, <32 x i32>
    <i32  1, i32  0, i32  3, i32  2, i32  5, i32  4, i32  7, i32  6,
     i32  9, i32  8, i32 11, i32 10, i32 13, i32 12, i32 15, i32 14,
     i32 17, i32 16, i32 19, i32 18, i32 21, i32 20, i32 23, i32 22,
     i32 25, i32 24, i32 27, i32 26, i32 29, i32 28, i32 31, i32 30>
  %sorted = call <32 x i32> @exchange(
    <32 x i32> %values, <32 x i32> %others, i32 u0x55555555)
  ret <32 x i32> %sorted
}

define internal <32 x i32> @exchange_2(<32 x i32> %values) alwaysinline {
  %others = shufflevector <32 x i32> %values, <32 x i32> poison, <32 x i32>
    <i32  2, i32  3, i32  0, i32  1, i32  6, i32  7, i32  4, i32  5,
     i32 10, i32 11, i32  8, i32  9, i32 14, i32 15, i32 12, i32 13,
     i32 18, i32 19, i32 16, i32 17, i32 22, i32 23, i32 20, i32 21,
     i32 26, i32 27, i32 24, i32 25, i32 30, i32 31, i32 28, i32 29>
  %sorted = call <32 x i32> @exchange(
    <32 x i32> %values, <32 x i32> %others, i32 u0x33333333)
  ret <32 x i32> %sorted
}

define internal <32 x i32> @exchange_4(<32 x i32> %values) alwaysinline {
  %others = shufflevector <32 x i32> %values, <32 x i32> poison, <32 x i32>
    <i32  4, i32  5, i32  6, i32  7, i32  0, i32  1, i32  2, i32  3,
     i32 12, i32 13, i32 14, i32 15, i32  8, i32  9, i32 10, i32 11,
     i32 20, i32 21, i32 22, i32 23, i32 16, i32 17, i32 18, i32 19,
     i32 28, i32 29, i32 30, i32 31, i32 24, i32 25, i32 26, i32 27>
  %sorted = call <32 x i32> @exchange(
    <32 x i32> %values, <32 x i32> %others, i32 u0x0F0F0F0F)
  ret <32 x i32> %sorted
}

define internal <32 x i32> @exchange_8(<32 x i32> %values) alwaysinline {
  %others = shufflevector <32 x i32> %values, <32 x i32> poison, <32 x i32>
    <i32  8, i32  9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15,
     i32  0, i32  1, i32  2, i32  3, i32  4, i32  5, i32  6, i32  7,
     i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31,
     i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %sorted = call <32 x i32> @exchange(
    <32 x i32> %values, <32 x i32> %others, i32 u0x00FF00FF)
  ret <32 x i32> %sorted
}

define internal <32 x i32> @exchange_3(<32 x i32> %values) alwaysinline {
  %others = shufflevector <32 x i32> %values, <32 x i32> poison, <32 x i32>
    <i32  3, i32  2, i32  1, i32  0, i32  7, i32  6, i32  5, i32  4,
     i32 11, i32 10, i32  9, i32  8, i32 15, i32 14, i32 13, i32 12,
     i32 19, i32 18, i32 17, i32 16, i32 23, i32 22, i32 21, i32 20,
     i32 27, i32 26, i32 25, i32 24, i32 31, i32 30, i32 29, i32 28>
  %sorted = call <32 x i32> @exchange(
    <32 x i32> %values, <32 x i32> %others, i32 u0x33333333)
  ret <32 x i32> %sorted
}

define internal <32 x i32> @exchange_7(<32 x i32> %values) alwaysinline {
  %others = shufflevector <32 x i32> %values, <32 x i32> poison, <32 x i32>
    <i32  7, i32  6, i32  5, i32  4, i32  3, i32  2, i32  1, i32  0,
     i32 15, i32 14, i32 13, i32 12, i32 11, i32 10, i32  9, i32  8,
     i32 23, i32 22, i32 21, i32 20, i32 19, i32 18, i32 17, i32 16,
     i32 31, i32 30, i32 29, i32 28, i32 27, i32 26, i32 25, i32 24>
  %sorted = call <32 x i32> @exchange(
    <32 x i32> %values, <32 x i32> %others, i32 u0x0F0F0F0F)
  ret <32 x i32> %sorted
}

define internal <32 x i32> @exchange_15(<32 x i32> %values) alwaysinline {
  %others = shufflevector <32 x i32> %values, <32 x i32> poison, <32 x i32>
    <i32 15, i32 14, i32 13, i32 12, i32 11, i32 10, i32  9, i32  8,
     i32  7, i32  6, i32  5, i32  4, i32  3, i32  2, i32  1, i32  0,
     i32 31, i32 30, i32 29, i32 28, i32 27, i32 26, i32 25, i32 24,
     i32 23, i32 22, i32 21, i32 20, i32 19, i32 18, i32 17, i32 16>
  %sorted = call <32 x i32> @exchange(
    <32 x i32> %values, <32 x i32> %others, i32 u0x00FF00FF)
  ret <32 x i32> %sorted
}

define internal <32 x i32> @exchange_31(<32 x i32> %values) alwaysinline {
  %others = shufflevector <32 x i32> %values, <32 x i32> poison, <32 x i32>
    <i32 31, i32 30, i32 29, i32 28, i32 27, i32 26, i32 25, i32 24,
     i32 23, i32 22, i32 21, i32 20, i32 19, i32 18, i32 17, i32 16,
     i32 15, i32 14, i32 13, i32 12, i32 11, i32 10, i32  9, i32  8,
     i32  7, i32  6, i32  5, i32  4, i32  3, i32  2, i32  1, i32  0>
  %sorted = call <32 x i32> @exchange(
    <32 x i32> %values, <32 x i32> %others, i32 u0x0000FFFF)
  ret <32 x i32> %sorted
}

; Rising order; each paragraph doubles the length of the runs that are sorted.
define internal <32 x i32> @sort(<32 x i32> %values) alwaysinline {
  %v1 = call <32 x i32> @exchange_1(<32 x i32> %values)
  %v2 = call <32 x i32> @exchange_3(<32 x i32> %v1)
  %v3 = call <32 x i32> @exchange_1(<32 x i32> %v2)
  %v4 = call <32 x i32> @exchange_7(<32 x i32> %v3)
  %v5 = call <32 x i32> @exchange_2(<32 x i32> %v4)
  %v6 = call <32 x i32> @exchange_1(<32 x i32> %v5)
  %v7 = call <32 x i32> @exchange_15(<32 x i32> %v6)
  %v8 = call <32 x i32> @exchange_4(<32 x i32> %v7)
  %v9 = call <32 x i32> @exchange_2(<32 x i32> %v8)
  %v10 = call <32 x i32> @exchange_1(<32 x i32> %v9)
  %v11 = call <32 x i32> @exchange_31(<32 x i32> %v10)
  %v12 = call <32 x i32> @exchange_8(<32 x i32> %v11)
  %v13 = call <32 x i32> @exchange_4(<32 x i32> %v12)
  %v14 = call <32 x i32> @exchange_2(<32 x i32> %v13)
  %v15 = call <32 x i32> @exchange_1(<32 x i32> %v14)
  ret <32 x i32> %v15
}

; The lanes (after sorting, if need be) where another value begins; lane 0 does.
;   if (values neither rise nor fall throughout) sort(values);
;   return values, {i : i == 0 || values[i] != values[i - 1]}
define internal { <32 x i32>, i32 } @distinct(<32 x i32> %values) alwaysinline {
entry:
  %below = call <32 x i32> @up_1(<32 x i32> %values)
  %rise = icmp ugt <32 x i32> %values, %below
  %fall = icmp ult <32 x i32> %values, %below
  %rises = bitcast <32 x i1> %rise to i32
  %falls = bitcast <32 x i1> %fall to i32
  %never_rises = icmp eq i32 %rises, 0
  %never_falls = icmp eq i32 %falls, 0
  %monotone = or i1 %never_rises, %never_falls
  %changes = or i32 %rises, %falls
  br i1 %monotone, label %done, label %unordered
unordered:
  %sorted = call <32 x i32> @sort(<32 x i32> %values)
  %lower = call <32 x i32> @up_1(<32 x i32> %sorted)
  %differ = icmp ne <32 x i32> %sorted, %lower
  %borders = bitcast <32 x i1> %differ to i32
  br label %done
done:
  %found = phi <32 x i32> [ %values, %entry ], [ %sorted, %unordered ]
  %begin = phi i32 [ %changes, %entry ], [ %borders, %unordered ]
  %begins = or i32 %begin, 1
  %half = insertvalue { <32 x i32>, i32 } poison, <32 x i32> %found, 0
  %both = insertvalue { <32 x i32>, i32 } %half, i32 %begins, 1
  ret { <32 x i32>, i32 } %both
}

; ======================================================================================
; Sectors of global memory
; ======================================================================================

; counters.sectors: how many different values of address / 32.
;   near each other: a set of 64 bits; else in or out of order: borders between values;
;   else (further apart than 2^36 bytes) one after the other
define i32 @ck_sectors(ptr %addresses, i32 %mask) nounwind {
entry:
  %lanes = call <32 x i64> @active_lanes(ptr %addresses, i32 %mask)
  %sectors = lshr <32 x i64> %lanes, splat (i64 5)
  %address = call i64 @first(ptr %addresses, i32 %mask)
  %first = lshr i64 %address, 5
  %places = call <32 x i64> @places(<32 x i64> %sectors, i64 %first)
  %near = call i1 @all_below(<32 x i64> %places, i64 6)
  br i1 %near, label %inside, label %outside
inside:
  %set = call i64 @place_set(<32 x i64> %places)
  %members = call i64 @llvm.ctpop.i64(i64 %set)
  %few = trunc i64 %members to i32
  ret i32 %few
outside:
  %origin = sub i64 %first, u0x80000000
  %offsets = call { <32 x i32>, i1 } @offsets(<32 x i64> %sectors, i64 %origin)
  %fits = extractvalue { <32 x i32>, i1 } %offsets, 1
  br i1 %fits, label %compare, label %far
compare:
  %narrow = extractvalue { <32 x i32>, i1 } %offsets, 0
  %filled = call <32 x i32> @fill_gaps(<32 x i32> %narrow, i32 %mask)
  %found = call { <32 x i32>, i32 } @distinct(<32 x i32> %filled)
  %begins = extractvalue { <32 x i32>, i32 } %found, 1
  %many = call i32 @llvm.ctpop.i32(i32 %begins)
  ret i32 %many
far:
  %slow = call i32 @far_sectors(ptr %addresses, i32 %mask)
  ret i32 %slow
}

; The lanes of a mask whose value >> shift is that of its first lane.
define internal i32 @like_first(ptr %values, i32 %mask, i64 %shift) alwaysinline {
  %value = call i64 @first(ptr %values, i32 %mask)
  %wanted = lshr i64 %value, %shift
  %wanteds = call <32 x i64> @all_i64(i64 %wanted)
  %shifts = call <32 x i64> @all_i64(i64 %shift)
  %all = load <32 x i64>, ptr %values, align 64
  %keys = lshr <32 x i64> %all, %shifts
  %same = icmp eq <32 x i64> %keys, %wanteds
  %bits = bitcast <32 x i1> %same to i32
  %lanes = and i32 %bits, %mask
  ret i32 %lanes
}

; The same for any addresses.
;   for (left = mask; left; left &= ~like_first(left)) count++;
define internal i32 @far_sectors(ptr %addresses, i32 %mask) noinline {
entry:
  br label %next
next:
  %left = phi i32 [ %mask, %entry ], [ %rest, %next ]
  %count = phi i32 [ 0, %entry ], [ %more, %next ]
  %same = call i32 @like_first(ptr %addresses, i32 %left, i64 5)
  %rest = xor i32 %left, %same
  %more = add i32 %count, 1
  %done = icmp eq i32 %rest, 0
  br i1 %done, label %end, label %next
end:
  ret i32 %more
}

; counters.atomic_sectors. Lanes with one address take turns, and each turn counts its
; sectors: a sector counts as often as its most wanted address occurs.
define i32 @ck_atomic_sectors(ptr %addresses, i32 %mask) nounwind {
entry:
  %same = call i32 @like_first(ptr %addresses, i32 %mask, i64 0)
  %one = icmp eq i32 %same, %mask
  %active = call i32 @llvm.ctpop.i32(i32 %mask)
  br i1 %one, label %single, label %several
single:
  ret i32 %active
several:
  ; Offsets stay multiples of 32 from a border of a sector. Inactive lanes go last:
  ; their offset is the largest there is, which no active lane may have.
  %lanes = call <32 x i64> @active_lanes(ptr %addresses, i32 %mask)
  %address = call i64 @first(ptr %addresses, i32 %mask)
  %border = and i64 %address, -32
  %origin = sub i64 %border, u0x80000000
  %offsets = call { <32 x i32>, i1 } @offsets(<32 x i64> %lanes, i64 %origin)
  %narrow = extractvalue { <32 x i32>, i1 } %offsets, 0
  %fits = extractvalue { <32 x i32>, i1 } %offsets, 1
  %is_last = icmp eq <32 x i32> %narrow, splat (i32 -1)
  %lasts = bitcast <32 x i1> %is_last to i32
  %no_last = icmp eq i32 %lasts, 0
  %usable = and i1 %fits, %no_last
  br i1 %usable, label %close, label %far
close:
  %chosen = bitcast i32 %mask to <32 x i1>
  %keys = select <32 x i1> %chosen, <32 x i32> %narrow, <32 x i32> splat (i32 -1)
  %below_key = call <32 x i32> @up_1(<32 x i32> %keys)
  %fall = icmp ult <32 x i32> %keys, %below_key
  %falls = bitcast <32 x i1> %fall to i32
  %rising = icmp eq i32 %falls, 0
  br i1 %rising, label %count, label %unordered
unordered:
  %in_order = call <32 x i32> @sort(<32 x i32> %keys)
  br label %count
count:
  %sorted = phi <32 x i32> [ %keys, %close ], [ %in_order, %unordered ]
  %below = call <32 x i32> @up_1(<32 x i32> %sorted)
  %change = xor <32 x i32> %sorted, %below
  %new_address = icmp ne <32 x i32> %change, zeroinitializer
  %new_sector = icmp ugt <32 x i32> %change, splat (i32 31)
  %address_bits = bitcast <32 x i1> %new_address to i32
  %sector_bits = bitcast <32 x i1> %new_sector to i32
  %unused = sub i32 32, %active
  %used = lshr i32 -1, %unused
  %address_set = or i32 %address_bits, 1
  %sector_set = or i32 %sector_bits, 1
  %addresses_begin = and i32 %address_set, %used
  %sectors_begin = and i32 %sector_set, %used
  %sectors = call i32 @llvm.ctpop.i32(i32 %sectors_begin)
  %unshared = icmp eq i32 %addresses_begin, %used
  br i1 %unshared, label %once, label %turns
once:
  ret i32 %sectors
turns:
  %total = call i32 @turns(i32 %addresses_begin, i32 %sectors_begin, i32 %active)
  ret i32 %total
far:
  %slow = call i32 @far_turns(ptr %addresses, i32 %mask)
  ret i32 %slow
}

; Add up the longest run of each sector, of `count` sorted addresses.
;   for (left = addresses; left; left = rest) {      // bits: where a run begins
;     start = ctz(left); rest = left & (left - 1);
;     length = (rest ? ctz(rest) : count) - start;
;     if (sectors >> start & 1) { total += most; most = 0; }
;     most = max(most, length);
;   }
;   return total + most;
define internal i32 @turns(i32 %addresses, i32 %sectors, i32 %count) {
entry:
  br label %next
next:
  %left = phi i32 [ %addresses, %entry ], [ %rest, %next ]
  %total = phi i32 [ 0, %entry ], [ %sum, %next ]
  %most = phi i32 [ 0, %entry ], [ %longest, %next ]
  %start = call i32 @llvm.cttz.i32(i32 %left, i1 true)
  %less = sub i32 %left, 1
  %rest = and i32 %left, %less
  %last = icmp eq i32 %rest, 0
  %following = call i32 @llvm.cttz.i32(i32 %rest, i1 false)
  %stop = select i1 %last, i32 %count, i32 %following
  %length = sub i32 %stop, %start
  %shifted = lshr i32 %sectors, %start
  %begins = trunc i32 %shifted to i1
  %finished = select i1 %begins, i32 %most, i32 0
  %sum = add i32 %total, %finished
  %so_far = select i1 %begins, i32 0, i32 %most
  %longest = call i32 @llvm.umax.i32(i32 %so_far, i32 %length)
  br i1 %last, label %end, label %next
end:
  %all = add i32 %sum, %longest
  ret i32 %all
}

; The same for any addresses: for each sector, the most lanes at one address of it.
;   for (left = mask; left; left &= ~sector) {
;     sector = like_first(left, >> 5); most = 0;
;     for (inner = sector; inner; inner &= ~same) {
;       same = like_first(inner, >> 0); most = max(most, popcount(same));
;     }
;     total += most;
;   }
define internal i32 @far_turns(ptr %addresses, i32 %mask) noinline {
entry:
  br label %next
next:
  %left = phi i32 [ %mask, %entry ], [ %rest, %finished ]
  %total = phi i32 [ 0, %entry ], [ %sum, %finished ]
  %sector = call i32 @like_first(ptr %addresses, i32 %left, i64 5)
  br label %address
address:
  %inner = phi i32 [ %sector, %next ], [ %others, %address ]
  %most = phi i32 [ 0, %next ], [ %longest, %address ]
  %same = call i32 @like_first(ptr %addresses, i32 %inner, i64 0)
  %length = call i32 @llvm.ctpop.i32(i32 %same)
  %longest = call i32 @llvm.umax.i32(i32 %most, i32 %length)
  %others = xor i32 %inner, %same
  %no_others = icmp eq i32 %others, 0
  br i1 %no_others, label %finished, label %address
finished:
  %sum = add i32 %total, %longest
  %rest = xor i32 %left, %sector
  %done = icmp eq i32 %rest, 0
  br i1 %done, label %end, label %next
end:
  ret i32 %sum
}

; ======================================================================================
; Wavefronts of shared memory
; ======================================================================================

; How many of the lanes in `counted` have each key 0..31: 32 bytes, in four i64.
;   for (q = 0; q < 4; q++)
;     bytes[q] = sum over lanes: key / 8 == q ? 1 << 8 * (key % 8) : 0;
define internal <4 x i64> @histogram(<32 x i32> %keys, i32 %counted) alwaysinline {
  %low = and <32 x i32> %keys, splat (i32 7)
  %shift = shl <32 x i32> %low, splat (i32 3)
  %shifts = zext <32 x i32> %shift to <32 x i64>
  %each = shl <32 x i64> splat (i64 1), %shifts
  %counts = bitcast i32 %counted to <32 x i1>
  %ones = select <32 x i1> %counts, <32 x i64> %each, <32 x i64> zeroinitializer
  %quarter = lshr <32 x i32> %keys, splat (i32 3)
  %is0 = icmp eq <32 x i32> %quarter, zeroinitializer
  %is1 = icmp eq <32 x i32> %quarter, splat (i32 1)
  %is2 = icmp eq <32 x i32> %quarter, splat (i32 2)
  %is3 = icmp eq <32 x i32> %quarter, splat (i32 3)
  %in0 = select <32 x i1> %is0, <32 x i64> %ones, <32 x i64> zeroinitializer
  %in1 = select <32 x i1> %is1, <32 x i64> %ones, <32 x i64> zeroinitializer
  %in2 = select <32 x i1> %is2, <32 x i64> %ones, <32 x i64> zeroinitializer
  %in3 = select <32 x i1> %is3, <32 x i64> %ones, <32 x i64> zeroinitializer
  %sum0 = call i64 @llvm.vector.reduce.add.v32i64(<32 x i64> %in0)
  %sum1 = call i64 @llvm.vector.reduce.add.v32i64(<32 x i64> %in1)
  %sum2 = call i64 @llvm.vector.reduce.add.v32i64(<32 x i64> %in2)
  %sum3 = call i64 @llvm.vector.reduce.add.v32i64(<32 x i64> %in3)
  %h0 = insertelement <4 x i64> poison, i64 %sum0, i64 0
  %h1 = insertelement <4 x i64> %h0, i64 %sum1, i64 1
  %h2 = insertelement <4 x i64> %h1, i64 %sum2, i64 2
  %h3 = insertelement <4 x i64> %h2, i64 %sum3, i64 3
  ret <4 x i64> %h3
}

; One step of @largest_bytes: the larger of bytes that are `distance` bits apart.
define internal <4 x i64> @larger_bytes(<4 x i64> %values, <4 x i64> %distance)
    alwaysinline {
  %moved = lshr <4 x i64> %values, %distance
  %a = bitcast <4 x i64> %values to <32 x i8>
  %b = bitcast <4 x i64> %moved to <32 x i8>
  %larger = call <32 x i8> @llvm.umax.v32i8(<32 x i8> %a, <32 x i8> %b)
  %result = bitcast <32 x i8> %larger to <4 x i64>
  ret <4 x i64> %result
}

; The largest byte of each i64.
define internal <4 x i64> @largest_bytes(<4 x i64> %values) alwaysinline {
  %m4 = call <4 x i64> @larger_bytes(<4 x i64> %values, <4 x i64> splat (i64 32))
  %m2 = call <4 x i64> @larger_bytes(<4 x i64> %m4, <4 x i64> splat (i64 16))
  %m1 = call <4 x i64> @larger_bytes(<4 x i64> %m2, <4 x i64> splat (i64 8))
  %largest = and <4 x i64> %m1, splat (i64 255)
  ret <4 x i64> %largest
}

; Add up, over the groups of 2^bits counters (32, 16 or 8), the largest one of each.
define internal i32 @busiest(<4 x i64> %histogram, i32 %bits) alwaysinline {
  %largest = call <4 x i64> @largest_bytes(<4 x i64> %histogram)
  %m0 = extractelement <4 x i64> %largest, i64 0
  %m1 = extractelement <4 x i64> %largest, i64 1
  %m2 = extractelement <4 x i64> %largest, i64 2
  %m3 = extractelement <4 x i64> %largest, i64 3
  %low_sum = add i64 %m0, %m1
  %high_sum = add i64 %m2, %m3
  %low_max = call i64 @llvm.umax.i64(i64 %m0, i64 %m1)
  %high_max = call i64 @llvm.umax.i64(i64 %m2, i64 %m3)
  %by8 = add i64 %low_sum, %high_sum
  %by16 = add i64 %low_max, %high_max
  %by32 = call i64 @llvm.umax.i64(i64 %low_max, i64 %high_max)
  %is8 = icmp eq i32 %bits, 3
  %is16 = icmp eq i32 %bits, 4
  %other = select i1 %is16, i64 %by16, i64 %by32
  %sum = select i1 %is8, i64 %by8, i64 %other
  %used = trunc i64 %sum to i32
  ret i32 %used
}

; How many groups of 2^bits bits (32, 16 or 8) of a set have a member.
;   the lowest bit of each byte, or half, gets the `or` of all its bits
define internal i32 @groups(i32 %set, i32 %bits) alwaysinline {
  %s4 = lshr i32 %set, 4
  %t4 = or i32 %set, %s4
  %s2 = lshr i32 %t4, 2
  %t2 = or i32 %t4, %s2
  %s1 = lshr i32 %t2, 1
  %t1 = or i32 %t2, %s1
  %bytes = and i32 %t1, u0x01010101
  %s8 = lshr i32 %bytes, 8
  %t8 = or i32 %bytes, %s8
  %halves = and i32 %t8, u0x00010001
  %is8 = icmp eq i32 %bits, 3
  %is32 = icmp eq i32 %bits, 5
  %some = select i1 %is8, i32 %bytes, i32 %halves
  %several = call i32 @llvm.ctpop.i32(i32 %some)
  %count = select i1 %is32, i32 1, i32 %several
  ret i32 %count
}

; {key : key of some lane}, as bits.
define internal i32 @key_set(<32 x i32> %keys) alwaysinline {
  %each = shl <32 x i32> splat (i32 1), %keys
  %set = call i32 @llvm.vector.reduce.or.v32i32(<32 x i32> %each)
  ret i32 %set
}

; What ck_wavefronts returns: wavefronts, and how many of them are conflicts.
define internal i64 @with_conflicts(i32 %used, i32 %needed) alwaysinline {
  %conflicts = sub i32 %used, %needed
  %low = zext i32 %used to i64
  %wide = zext i32 %conflicts to i64
  %high = shl i64 %wide, 32
  %both = or i64 %high, %low
  ret i64 %both
}

; Whether active lanes i and i ^ 1 (or i ^ 2) always have the same unit.
;   `both` names the lanes that are active and whose partner is
define internal i1 @pairs_agree(<32 x i32> %units, <32 x i32> %others, i32 %both)
    alwaysinline {
  %differ = icmp ne <32 x i32> %units, %others
  %bits = bitcast <32 x i1> %differ to i32
  %wrong = and i32 %bits, %both
  %agree = icmp eq i32 %wrong, 0
  ret i1 %agree
}

; Whether a load of 8 or 16 bytes a lane joins lanes: counters._pairs_agree for 1 or 2.
define internal i1 @joins_lanes(<32 x i32> %units, i32 %mask) alwaysinline {
  %by1 = shufflevector <32 x i32> %units, <32 x i32> poison, <32 x i32>
    <i32  1, i32  0, i32  3, i32  2, i32  5, i32  4, i32  7, i32  6,
     i32  9, i32  8, i32 11, i32 10, i32 13, i32 12, i32 15, i32 14,
     i32 17, i32 16, i32 19, i32 18, i32 21, i32 20, i32 23, i32 22,
     i32 25, i32 24, i32 27, i32 26, i32 29, i32 28, i32 31, i32 30>
  %up1 = shl i32 %mask, 1
  %down1 = lshr i32 %mask, 1
  %odd1 = and i32 %up1, u0xAAAAAAAA
  %even1 = and i32 %down1, u0x55555555
  %partner1 = or i32 %odd1, %even1
  %both1 = and i32 %partner1, %mask
  %agree1 = call i1 @pairs_agree(<32 x i32> %units, <32 x i32> %by1, i32 %both1)
  %by2 = shufflevector <32 x i32> %units, <32 x i32> poison, <32 x i32>
    <i32  2, i32  3, i32  0, i32  1, i32  6, i32  7, i32  4, i32  5,
     i32 10, i32 11, i32  8, i32  9, i32 14, i32 15, i32 12, i32 13,
     i32 18, i32 19, i32 16, i32 17, i32 22, i32 23, i32 20, i32 21,
     i32 26, i32 27, i32 24, i32 25, i32 30, i32 31, i32 28, i32 29>
  %up2 = shl i32 %mask, 2
  %down2 = lshr i32 %mask, 2
  %odd2 = and i32 %up2, u0xCCCCCCCC
  %even2 = and i32 %down2, u0x33333333
  %partner2 = or i32 %odd2, %even2
  %both2 = and i32 %partner2, %mask
  %agree2 = call i1 @pairs_agree(<32 x i32> %units, <32 x i32> %by2, i32 %both2)
  %joins = or i1 %agree1, %agree2
  ret i1 %joins
}

; counters.shared_wavefronts: wavefronts in the low half, conflicts in the high one.
; Addresses are multiples of the width, and less than 2^29 bytes apart.
define i64 @ck_wavefronts(ptr %addresses, i32 %mask, i32 %width, i32 %load) nounwind {
entry:
  %wide = icmp ugt i32 %width, 4
  br i1 %wide, label %groups, label %narrow
narrow:
  ; Up to 4 bytes a lane. Words around the first one: at most two of them share a bank.
  %lanes = call <32 x i64> @active_lanes(ptr %addresses, i32 %mask)
  %words = lshr <32 x i64> %lanes, splat (i64 2)
  %address = call i64 @first(ptr %addresses, i32 %mask)
  %first = lshr i64 %address, 2
  %places = call <32 x i64> @places(<32 x i64> %words, i64 %first)
  %near = call i1 @all_below(<32 x i64> %places, i64 6)
  br i1 %near, label %two_rows, label %many_rows
two_rows:
  %set = call i64 @place_set(<32 x i64> %places)
  %row = lshr i64 %set, 32
  %twice = and i64 %set, %row
  %some = icmp ne i64 %twice, 0
  %extra = zext i1 %some to i32
  %rows = add i32 %extra, 1
  %quick = call i64 @with_conflicts(i32 %rows, i32 1)
  ret i64 %quick
many_rows:
  %narrow_words = trunc <32 x i64> %words to <32 x i32>
  %narrow_units = and <32 x i32> %narrow_words, splat (i32 u0x07FFFFFF)
  %narrow_result = call i64 @conflicts(<32 x i32> %narrow_units, i32 %mask, i32 5)
  ret i64 %narrow_result
groups:
  ; Lanes go in groups, 16 with 8 bytes each or 8 with 16; twice as many if a load joins
  ; them. An access fills 2 or 4 banks, which makes 16 or 8 units of banks.
  ;   unit = address / width % 2^27; 2^bits = 128 / width;
  ;   group = lane >> (joins ? bits + 1 : bits)
  %all = load <32 x i64>, ptr %addresses, align 64
  %shift = call i32 @llvm.cttz.i32(i32 %width, i1 true)
  %wide_shift = zext i32 %shift to i64
  %shifts = call <32 x i64> @all_i64(i64 %wide_shift)
  %long_units = lshr <32 x i64> %all, %shifts
  %whole_units = trunc <32 x i64> %long_units to <32 x i32>
  %units = and <32 x i32> %whole_units, splat (i32 u0x07FFFFFF)
  %agree = call i1 @joins_lanes(<32 x i32> %units, i32 %mask)
  %is_load = icmp ne i32 %load, 0
  %joins = and i1 %agree, %is_load
  %bits = sub i32 7, %shift
  %doubling = zext i1 %joins to i32
  %group_shift = add i32 %bits, %doubling
  %group_shifts = call <32 x i32> @all_i32(i32 %group_shift)
  %group = lshr <32 x i32>
    <i32  0, i32  1, i32  2, i32  3, i32  4, i32  5, i32  6, i32  7,
     i32  8, i32  9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15,
     i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23,
     i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>, %group_shifts
  %high = shl <32 x i32> %group, splat (i32 27)
  %tagged = or <32 x i32> %units, %high
  ; Inactive lanes do as the first active one, as above.
  %lane = call i32 @llvm.cttz.i32(i32 %mask, i1 true)
  %start = call i64 @first(ptr %addresses, i32 %mask)
  %start_long = lshr i64 %start, %wide_shift
  %start_whole = trunc i64 %start_long to i32
  %start_unit = and i32 %start_whole, u0x07FFFFFF
  %start_group = lshr i32 %lane, %group_shift
  %start_high = shl i32 %start_group, 27
  %start_tagged = or i32 %start_unit, %start_high
  %others = call <32 x i32> @all_i32(i32 %start_tagged)
  %active = bitcast i32 %mask to <32 x i1>
  %ready = select <32 x i1> %active, <32 x i32> %tagged, <32 x i32> %others
  %wide_result = call i64 @conflicts(<32 x i32> %ready, i32 %mask, i32 %bits)
  ret i64 %wide_result
}

; The counter of a unit: its group (bits 27 and up) has 2^bits of the 32.
;   key = (unit >> 27 << bits) + unit % 2^bits
define internal <32 x i32> @keys(<32 x i32> %units, i32 %bits) alwaysinline {
  %all_bits = call <32 x i32> @all_i32(i32 %bits)
  %group = lshr <32 x i32> %units, splat (i32 27)
  %start = shl <32 x i32> %group, %all_bits
  %beyond = shl i32 -1, %bits
  %highs = call <32 x i32> @all_i32(i32 %beyond)
  %lows = xor <32 x i32> %highs, splat (i32 -1)
  %bank = and <32 x i32> %units, %lows
  %keys = or <32 x i32> %start, %bank
  ret <32 x i32> %keys
}

; Wavefronts and conflicts of units with their groups: in each group, the most different
; units that share a bank. Where no two of them do, that is one wavefront a group.
;   if (#set == #active || #set == #different units) used = needed;   // set: keys
;   else used = busiest(histogram of the different units)
define internal i64 @conflicts(<32 x i32> %units, i32 %mask, i32 %bits) noinline {
entry:
  %keys = call <32 x i32> @keys(<32 x i32> %units, i32 %bits)
  %set = call i32 @key_set(<32 x i32> %keys)
  %needed = call i32 @groups(i32 %set, i32 %bits)
  %different = call i32 @llvm.ctpop.i32(i32 %set)
  %active = call i32 @llvm.ctpop.i32(i32 %mask)
  %free = icmp eq i32 %different, %active
  br i1 %free, label %done, label %count
count:
  %filled = call <32 x i32> @fill_gaps(<32 x i32> %units, i32 %mask)
  %found = call { <32 x i32>, i32 } @distinct(<32 x i32> %filled)
  %ordered = extractvalue { <32 x i32>, i32 } %found, 0
  %begins = extractvalue { <32 x i32>, i32 } %found, 1
  %members = call i32 @llvm.ctpop.i32(i32 %begins)
  %merged = icmp eq i32 %different, %members
  br i1 %merged, label %done, label %crowded
crowded:
  %ordered_keys = call <32 x i32> @keys(<32 x i32> %ordered, i32 %bits)
  %histogram = call <4 x i64> @histogram(<32 x i32> %ordered_keys, i32 %begins)
  %busiest = call i32 @busiest(<4 x i64> %histogram, i32 %bits)
  br label %done
done:
  %used = phi i32 [ %needed, %entry ], [ %needed, %count ], [ %busiest, %crowded ]
  %result = call i64 @with_conflicts(i32 %used, i32 %needed)
  ret i64 %result
}

; counters.shared_atomic_wavefronts: the most active lanes that share a bank.
define i32 @ck_atomic_wavefronts(ptr %addresses, i32 %mask) nounwind {
entry:
  %lanes = call <32 x i64> @active_lanes(ptr %addresses, i32 %mask)
  %words = lshr <32 x i64> %lanes, splat (i64 2)
  %narrow = trunc <32 x i64> %words to <32 x i32>
  %banks = and <32 x i32> %narrow, splat (i32 31)
  %set = call i32 @key_set(<32 x i32> %banks)
  %different = call i32 @llvm.ctpop.i32(i32 %set)
  %active = call i32 @llvm.ctpop.i32(i32 %mask)
  %free = icmp eq i32 %different, %active
  br i1 %free, label %done, label %check
check:
  %same = icmp eq i32 %different, 1
  br i1 %same, label %done, label %count
count:
  %histogram = call <4 x i64> @histogram(<32 x i32> %banks, i32 %mask)
  %busiest = call i32 @busiest(<4 x i64> %histogram, i32 32)
  br label %done
done:
  %used = phi i32 [ 1, %entry ], [ %active, %check ], [ %busiest, %count ]
  ret i32 %used
}

; ======================================================================================
; match
; ======================================================================================

; out[lane] = the active lanes with the same value, 0 for inactive lanes; 1 if all
; agree.
;   for (left = mask; left; left &= ~same) {
;     same = like_first(left); out[same] = same;
;   }
define i32 @ck_match_any(ptr %values, i32 %mask, ptr %out) nounwind {
entry:
  br label %next
next:
  %left = phi i32 [ %mask, %entry ], [ %rest, %next ]
  %found = phi <32 x i32> [ zeroinitializer, %entry ], [ %more, %next ]
  %same = call i32 @like_first(ptr %values, i32 %left, i64 0)
  %chosen = bitcast i32 %same to <32 x i1>
  %all = call <32 x i32> @all_i32(i32 %same)
  %more = select <32 x i1> %chosen, <32 x i32> %all, <32 x i32> %found
  %rest = xor i32 %left, %same
  %done = icmp eq i32 %rest, 0
  br i1 %done, label %end, label %next
end:
  store <32 x i32> %more, ptr %out, align 64
  %agree = icmp eq i32 %same, %mask
  %result = zext i1 %agree to i32
  ret i32 %result
}

; ======================================================================================
; Regions of memory
; ======================================================================================

; ctx[index]; the names of its fields stand behind the calls, see runtime.Context.
define internal i64 @context(ptr %ctx, i64 %index) alwaysinline {
  %at = getelementptr i64, ptr %ctx, i64 %index
  %value = load i64, ptr %at, align 8
  ret i64 %value
}

define internal void @set_context(ptr %ctx, i64 %index, i64 %value) alwaysinline {
  %at = getelementptr i64, ptr %ctx, i64 %index
  store i64 %value, ptr %at, align 8
  ret void
}

; The row of a table that holds bytes [low, high), or null. Rows of `stride` i64 begin
; with address and nbytes and are sorted by address; addresses are unsigned and do not
; wrap.
;   first = 0;
;   for (; count > 1; count -= half) {
;     half = count / 2; if (table[first + half].address <= low) first += half;
;   }
;   offset = low - table[first].address;      // huge if low lies before it
;   return offset <= nbytes && high - low <= nbytes - offset ? row : null;
define internal ptr @row_of(ptr %table, i64 %count, i64 %stride, i64 %low, i64 %high) {
entry:
  %none = icmp eq i64 %count, 0
  br i1 %none, label %missing, label %search
search:
  %first = phi i64 [ 0, %entry ], [ %chosen, %halve ]
  %size = phi i64 [ %count, %entry ], [ %rest, %halve ]
  %several = icmp ugt i64 %size, 1
  br i1 %several, label %halve, label %check
halve:
  %half = lshr i64 %size, 1
  %middle = add i64 %first, %half
  %middle_word = mul i64 %middle, %stride
  %middle_at = getelementptr i64, ptr %table, i64 %middle_word
  %middle_address = load i64, ptr %middle_at, align 8
  %before = icmp ule i64 %middle_address, %low
  %chosen = select i1 %before, i64 %middle, i64 %first
  %rest = sub i64 %size, %half
  br label %search
check:
  %word = mul i64 %first, %stride
  %row = getelementptr i64, ptr %table, i64 %word
  %address = load i64, ptr %row, align 8
  %nbytes_at = getelementptr i64, ptr %row, i64 1
  %nbytes = load i64, ptr %nbytes_at, align 8
  %offset = sub i64 %low, %address
  %length = sub i64 %high, %low
  %room = sub i64 %nbytes, %offset
  %begins = icmp ule i64 %offset, %nbytes
  %ends = icmp ule i64 %length, %room
  %inside = and i1 %begins, %ends
  br i1 %inside, label %found, label %missing
found:
  ret ptr %row
missing:
  ret ptr null
}

; The region of global memory that holds bytes [low, high), or null; null too if it is
; to be written and is read-only. Has its bytes saved before it is written for the first
; time.
define internal ptr @region_of(ptr %ctx, i64 %low, i64 %high, i32 %write) {
entry:
  %start = call i64 @context(ptr %ctx, i64 0)                  ; REGIONS
  %count = call i64 @context(ptr %ctx, i64 1)                  ; REGION_COUNT
  %table = inttoptr i64 %start to ptr
  %row = call ptr @row_of(ptr %table, i64 %count, i64 4, i64 %low, i64 %high)
  %missing = icmp eq ptr %row, null
  %reads = icmp eq i32 %write, 0
  %settled = or i1 %missing, %reads
  br i1 %settled, label %done, label %check
check:
  %flags_at = getelementptr i64, ptr %row, i64 3
  %flags = load i64, ptr %flags_at, align 8
  %locked = trunc i64 %flags to i1                ; bit 0: read-only
  br i1 %locked, label %refuse, label %unlocked
unlocked:
  %kept = and i64 %flags, 2                       ; bit 1: saved
  %saved = icmp ne i64 %kept, 0
  br i1 %saved, label %done, label %save
save:
  %at = ptrtoint ptr %row to i64
  %distance = sub i64 %at, %start
  %index = lshr i64 %distance, 5
  %callback = call i64 @context(ptr %ctx, i64 5)               ; SAVE
  %function = inttoptr i64 %callback to ptr
  call void %function(i64 %index)
  %marked = or i64 %flags, 2
  store i64 %marked, ptr %flags_at, align 8
  br label %done
refuse:
  br label %done
done:
  %result = phi ptr [ %row, %entry ], [ %row, %unlocked ], [ %row, %save ],
    [ null, %refuse ]
  ret ptr %result
}

; The same for shared memory.
define internal ptr @shared_region_of(ptr %ctx, i64 %low, i64 %high) {
  %start = call i64 @context(ptr %ctx, i64 2)                  ; SHARED_REGIONS
  %count = call i64 @context(ptr %ctx, i64 3)                  ; SHARED_COUNT
  %table = inttoptr i64 %start to ptr
  %row = call ptr @row_of(ptr %table, i64 %count, i64 2, i64 %low, i64 %high)
  ret ptr %row
}

; From an address of a region to where its bytes are: host - address.
define internal i64 @distance(ptr %row) alwaysinline {
  %host_at = getelementptr i64, ptr %row, i64 2
  %host = load i64, ptr %host_at, align 8
  %address = load i64, ptr %row, align 8
  %distance = sub i64 %host, %address
  ret i64 %distance
}

; Note at a site: the region's first byte, the byte after its last, and the distance.
define internal void @note(ptr %site, ptr %row, i64 %distance) alwaysinline {
  %nbytes_at = getelementptr i64, ptr %row, i64 1
  %address = load i64, ptr %row, align 8
  %nbytes = load i64, ptr %nbytes_at, align 8
  %end = add i64 %address, %nbytes
  %end_at = getelementptr i64, ptr %site, i64 1
  %distance_at = getelementptr i64, ptr %site, i64 2
  store i64 %address, ptr %site, align 8
  store i64 %end, ptr %end_at, align 8
  store i64 %distance, ptr %distance_at, align 8
  ret void
}

; Note at a site the region that holds bytes [low, high); false if there is none.
define zeroext i1 @ck_find(ptr %ctx, ptr %site, i64 %low, i64 %high, i32 %write)
    nounwind {
entry:
  %row = call ptr @region_of(ptr %ctx, i64 %low, i64 %high, i32 %write)
  %missing = icmp eq ptr %row, null
  br i1 %missing, label %nothing, label %found
found:
  %distance = call i64 @distance(ptr %row)
  call void @note(ptr %site, ptr %row, i64 %distance)
  ret i1 true
nothing:
  ret i1 false
}

define zeroext i1 @ck_find_shared(ptr %ctx, ptr %site, i64 %low, i64 %high) nounwind {
entry:
  %row = call ptr @shared_region_of(ptr %ctx, i64 %low, i64 %high)
  %missing = icmp eq ptr %row, null
  br i1 %missing, label %nothing, label %found
found:
  %base = call i64 @context(ptr %ctx, i64 4)                   ; SHARED_BASE
  call void @note(ptr %site, ptr %row, i64 %base)
  ret i1 true
nothing:
  ret i1 false
}

; Where the bytes of each active lane are, or false if a lane has none. Notes the region
; at the site if all lanes are in one. The table: 0 global memory, 1 shared memory.
;   for (left = mask; left; left &= ~inside) {
;     address = first(left); region = region_of(address, address + width);
;     if (!region) return false;
;     inside = left & {i : addresses[i] - region.address <= region.nbytes - width};
;     out[inside] = addresses[inside] + distance;
;   }
define internal i1 @resolve(
    ptr %ctx, ptr %site, ptr %addresses, i32 %mask, i32 %width, i32 %write, ptr %out,
    i1 %shared) alwaysinline {
entry:
  %bytes = zext i32 %width to i64
  %lanes = load <32 x i64>, ptr %addresses, align 64
  br label %next
next:
  %left = phi i32 [ %mask, %entry ], [ %rest, %inside ]
  %found = phi <32 x i64> [ %lanes, %entry ], [ %more, %inside ]
  %low = call i64 @first(ptr %addresses, i32 %left)
  %high = add i64 %low, %bytes
  br i1 %shared, label %look_in_shared, label %look
look:
  %global_row = call ptr @region_of(ptr %ctx, i64 %low, i64 %high, i32 %write)
  %no_global = icmp eq ptr %global_row, null
  br i1 %no_global, label %nothing, label %in_global
in_global:
  %global_distance = call i64 @distance(ptr %global_row)
  br label %inside
look_in_shared:
  %shared_row = call ptr @shared_region_of(ptr %ctx, i64 %low, i64 %high)
  %base = call i64 @context(ptr %ctx, i64 4)                   ; SHARED_BASE
  %no_shared = icmp eq ptr %shared_row, null
  br i1 %no_shared, label %nothing, label %inside
inside:
  %row = phi ptr [ %global_row, %in_global ], [ %shared_row, %look_in_shared ]
  %distance = phi i64 [ %global_distance, %in_global ], [ %base, %look_in_shared ]
  %start = load i64, ptr %row, align 8
  %nbytes_at = getelementptr i64, ptr %row, i64 1
  %nbytes = load i64, ptr %nbytes_at, align 8
  %last = sub i64 %nbytes, %bytes
  %starts = call <32 x i64> @all_i64(i64 %start)
  %lasts = call <32 x i64> @all_i64(i64 %last)
  %distances = call <32 x i64> @all_i64(i64 %distance)
  %offsets = sub <32 x i64> %lanes, %starts
  %fit = icmp ule <32 x i64> %offsets, %lasts
  %hosts = add <32 x i64> %lanes, %distances
  %more = select <32 x i1> %fit, <32 x i64> %hosts, <32 x i64> %found
  %fit_bits = bitcast <32 x i1> %fit to i32
  %here = and i32 %fit_bits, %left
  %rest = xor i32 %left, %here
  %done = icmp eq i32 %rest, 0
  br i1 %done, label %end, label %next
end:
  store <32 x i64> %more, ptr %out, align 64
  %all_here = icmp eq i32 %here, %mask
  br i1 %all_here, label %single, label %several
single:
  call void @note(ptr %site, ptr %row, i64 %distance)
  br label %several
several:
  ret i1 true
nothing:
  ret i1 false
}

define zeroext i1 @ck_resolve(
    ptr %ctx, ptr %site, ptr %addresses, i32 %mask, i32 %width, i32 %write, ptr %out)
    nounwind {
  %found = call i1 @resolve(
    ptr %ctx, ptr %site, ptr %addresses, i32 %mask, i32 %width, i32 %write, ptr %out,
    i1 false)
  ret i1 %found
}

define zeroext i1 @ck_resolve_shared(
    ptr %ctx, ptr %site, ptr %addresses, i32 %mask, i32 %width, i32 %write, ptr %out)
    nounwind {
  %found = call i1 @resolve(
    ptr %ctx, ptr %site, ptr %addresses, i32 %mask, i32 %width, i32 %write, ptr %out,
    i1 true)
  ret i1 %found
}

; ======================================================================================
; The scheduler
; ======================================================================================

; The start of the record of a warp.
%warp_record = type {
  i32,  ;  0  state: 0 ready, 1 waits at the barrier, 2 done
  i32,  ;  1  tier: 0 fast, 1 general
  i32,  ;  2  where it goes on; 0 is the start
  i32,  ;  3  lanes that run
  i32,  ;  4  depth of its stack
  i32,  ;  5  lanes that have not left
  i64,  ;  6  instructions executed
  i32,  ;  7  lanes that exist
  i32   ;  8  number of the warp
}

; The record of a warp: ctx.records + number * ctx.record_bytes.
define internal ptr @record_of(ptr %ctx, i64 %number) alwaysinline {
  %start = call i64 @context(ptr %ctx, i64 11)                 ; RECORDS
  %bytes = call i64 @context(ptr %ctx, i64 12)                 ; RECORD_BYTES
  %offset = mul i64 %number, %bytes
  %records = inttoptr i64 %start to ptr
  %record = getelementptr i8, ptr %records, i64 %offset
  ret ptr %record
}

; Whether a block can only start with code of the general tier: there is no other, or a
; warp has fewer than 32 lanes.
define internal i1 @starts_general(ptr %ctx, ptr %fast) {
entry:
  %warps = call i64 @context(ptr %ctx, i64 13)                 ; WARPS
  %no_fast = icmp eq ptr %fast, null
  br i1 %no_fast, label %yes, label %next
next:
  %number = phi i64 [ 0, %entry ], [ %following, %full ]
  %more = icmp ult i64 %number, %warps
  br i1 %more, label %look, label %no
look:
  %record = call ptr @record_of(ptr %ctx, i64 %number)
  %exist_at = getelementptr %warp_record, ptr %record, i64 0, i32 7
  %exist = load i32, ptr %exist_at, align 8
  %whole = icmp eq i32 %exist, -1
  br i1 %whole, label %full, label %yes
full:
  %following = add i64 %number, 1
  br label %next
yes:
  ret i1 true
no:
  ret i1 false
}

; Prepare the block at a position: its indices, its shared memory, its warps.
define internal void @begin_block(ptr %ctx, i64 %position) {
entry:
  %blocks_at = call i64 @context(ptr %ctx, i64 16)             ; BLOCKS
  %blocks = inttoptr i64 %blocks_at to ptr
  %linear_at = getelementptr i64, ptr %blocks, i64 %position
  %linear = load i64, ptr %linear_at, align 8
  call void @set_context(ptr %ctx, i64 25, i64 %linear)        ; LINEAR
  %width = call i64 @context(ptr %ctx, i64 19)                 ; GRID_X
  %height = call i64 @context(ptr %ctx, i64 20)                ; GRID_Y
  %row = udiv i64 %linear, %width
  %x = urem i64 %linear, %width
  %z = udiv i64 %row, %height
  %y = urem i64 %row, %height
  call void @set_context(ptr %ctx, i64 22, i64 %x)             ; CTAID_X
  call void @set_context(ptr %ctx, i64 23, i64 %y)             ; CTAID_Y
  call void @set_context(ptr %ctx, i64 24, i64 %z)             ; CTAID_Z
  call void @set_context(ptr %ctx, i64 27, i64 0)              ; WAITING
  %shared_at = call i64 @context(ptr %ctx, i64 2)              ; SHARED_REGIONS
  %shared = inttoptr i64 %shared_at to ptr
  %regions = call i64 @context(ptr %ctx, i64 3)                ; SHARED_COUNT
  %base = call i64 @context(ptr %ctx, i64 4)                   ; SHARED_BASE
  br label %next_region
next_region:
  %region = phi i64 [ 0, %entry ], [ %following_region, %poison ]
  %more_regions = icmp ult i64 %region, %regions
  br i1 %more_regions, label %poison, label %warps
poison:
  %word = mul i64 %region, 2
  %row_at = getelementptr i64, ptr %shared, i64 %word
  %nbytes_at = getelementptr i64, ptr %row_at, i64 1
  %address = load i64, ptr %row_at, align 8
  %nbytes = load i64, ptr %nbytes_at, align 8
  %host = add i64 %base, %address
  %bytes = inttoptr i64 %host to ptr
  call void @llvm.memset.p0.i64(ptr %bytes, i8 u0xCB, i64 %nbytes, i1 false)
  %following_region = add i64 %region, 1
  br label %next_region
warps:
  %count = call i64 @context(ptr %ctx, i64 13)                 ; WARPS
  br label %next_warp
next_warp:
  %number = phi i64 [ 0, %warps ], [ %following, %start ]
  %more = icmp ult i64 %number, %count
  br i1 %more, label %start, label %done
start:
  %record = call ptr @record_of(ptr %ctx, i64 %number)
  %tier_at = getelementptr %warp_record, ptr %record, i64 0, i32 1
  %resume_at = getelementptr %warp_record, ptr %record, i64 0, i32 2
  %mask_at = getelementptr %warp_record, ptr %record, i64 0, i32 3
  %depth_at = getelementptr %warp_record, ptr %record, i64 0, i32 4
  %live_at = getelementptr %warp_record, ptr %record, i64 0, i32 5
  %executed_at = getelementptr %warp_record, ptr %record, i64 0, i32 6
  %exist_at = getelementptr %warp_record, ptr %record, i64 0, i32 7
  %exist = load i32, ptr %exist_at, align 8
  %partial = icmp ne i32 %exist, -1
  %tier = zext i1 %partial to i32
  store i32 0, ptr %record, align 8
  store i32 %tier, ptr %tier_at, align 4
  store i32 0, ptr %resume_at, align 8
  store i32 %exist, ptr %mask_at, align 4
  store i32 0, ptr %depth_at, align 8
  store i32 %exist, ptr %live_at, align 4
  store i64 0, ptr %executed_at, align 8
  %following = add i64 %number, 1
  br label %next_warp
done:
  ret void
}

; All warps that wait go on. Those that have left the kernel stay counted: the next
; barrier does not wait for them either.
define internal void @open_barrier(ptr %ctx) {
entry:
  %count = call i64 @context(ptr %ctx, i64 13)                 ; WARPS
  br label %next
next:
  %number = phi i64 [ 0, %entry ], [ %following, %look ]
  %gone = phi i64 [ 0, %entry ], [ %gone_now, %look ]
  %more = icmp ult i64 %number, %count
  br i1 %more, label %look, label %done
look:
  %record = call ptr @record_of(ptr %ctx, i64 %number)
  %exist_at = getelementptr %warp_record, ptr %record, i64 0, i32 7
  %state = load i32, ptr %record, align 8
  %waits = icmp eq i32 %state, 1
  %now = select i1 %waits, i32 0, i32 %state
  store i32 %now, ptr %record, align 8
  %exist = load i32, ptr %exist_at, align 8
  %threads = call i32 @llvm.ctpop.i32(i32 %exist)
  %wide = zext i32 %threads to i64
  %left = icmp eq i32 %state, 2
  %more_gone = select i1 %left, i64 %wide, i64 0
  %gone_now = add i64 %gone, %more_gone
  %following = add i64 %number, 1
  br label %next
done:
  call void @set_context(ptr %ctx, i64 27, i64 %gone)          ; WAITING
  ret void
}

; The threads of a warp wait, or have left the kernel; whether no thread of the block is
; elsewhere.
;   ctx.waiting += popcount(record.exist); return ctx.waiting == ctx.threads;
define internal i1 @counts_in(ptr %ctx, ptr %record) {
  %exist_at = getelementptr %warp_record, ptr %record, i64 0, i32 7
  %exist = load i32, ptr %exist_at, align 8
  %arriving = call i32 @llvm.ctpop.i32(i32 %exist)
  %wide = zext i32 %arriving to i64
  %waiting = call i64 @context(ptr %ctx, i64 27)               ; WAITING
  %all = add i64 %waiting, %wide
  call void @set_context(ptr %ctx, i64 27, i64 %all)           ; WAITING
  %threads = call i64 @context(ptr %ctx, i64 14)               ; THREADS
  %full = icmp eq i64 %all, %threads
  ret i1 %full
}

; Run a warp until it is done, waits, or has an answer for the caller (not 0).
;   for (;;) {
;     code = fast && record.tier == 0 ? fast : general;
;     if (!code) return 6;                       // compile general first
;     switch (answer = code(ctx, record)) {
;       case 0: record.state = done;
;               ctx.most_executed = max(ctx.most_executed, record.executed);
;               if (counts_in(record)) open_barrier();   // the others waited for it
;               return 0;
;       case 1: record.state = waits;
;               if (!counts_in(record)) return 0;
;               open_barrier(); break;                   // and this warp goes on
;       case 2: record.tier = general; break;
;       case 3: record.tier = fast; break;
;       default: return answer;
;     }
;   }
define internal i32 @run_warp(ptr %ctx, ptr %record, ptr %fast, ptr %general) {
entry:
  %tier_at = getelementptr %warp_record, ptr %record, i64 0, i32 1
  %executed_at = getelementptr %warp_record, ptr %record, i64 0, i32 6
  %no_fast = icmp eq ptr %fast, null
  br label %again
again:
  %tier = load i32, ptr %tier_at, align 4
  %slow = icmp ne i32 %tier, 0
  %needs_general = or i1 %slow, %no_fast
  %code = select i1 %needs_general, ptr %general, ptr %fast
  %missing = icmp eq ptr %code, null
  br i1 %missing, label %compile, label %run
compile:
  ret i32 6
run:
  %answer = call i32 %code(ptr %ctx, ptr %record)
  switch i32 %answer, label %give_up [
    i32 0, label %done
    i32 1, label %waits
    i32 2, label %to_general
    i32 3, label %to_fast
  ]
give_up:
  ret i32 %answer
to_general:
  store i32 1, ptr %tier_at, align 4
  br label %again
to_fast:
  store i32 0, ptr %tier_at, align 4
  br label %again
done:
  store i32 2, ptr %record, align 8
  %executed = load i64, ptr %executed_at, align 8
  %most = call i64 @context(ptr %ctx, i64 26)                  ; MOST_EXECUTED
  %longest = call i64 @llvm.umax.i64(i64 %most, i64 %executed)
  call void @set_context(ptr %ctx, i64 26, i64 %longest)       ; MOST_EXECUTED
  %last = call i1 @counts_in(ptr %ctx, ptr %record)
  br i1 %last, label %release, label %wait
release:
  call void @open_barrier(ptr %ctx)
  ret i32 0
waits:
  store i32 1, ptr %record, align 8
  %full = call i1 @counts_in(ptr %ctx, ptr %record)
  br i1 %full, label %open, label %wait
open:
  call void @open_barrier(ptr %ctx)
  br label %again
wait:
  ret i32 0
}

; Whether all warps of the block are done.
define internal i1 @block_done(ptr %ctx) {
entry:
  %count = call i64 @context(ptr %ctx, i64 13)                 ; WARPS
  br label %next
next:
  %number = phi i64 [ 0, %entry ], [ %following, %done ]
  %more = icmp ult i64 %number, %count
  br i1 %more, label %look, label %yes
look:
  %record = call ptr @record_of(ptr %ctx, i64 %number)
  %state = load i32, ptr %record, align 8
  %is_done = icmp eq i32 %state, 2
  br i1 %is_done, label %done, label %no
done:
  %following = add i64 %number, 1
  br label %next
yes:
  ret i1 true
no:
  ret i1 false
}

; Run the rest of a block: 0, or the answer that ended it, at ctx.resume_at of the
; order. `from` is a place in the order, in a round that has begun; -1 begins a round.
;   for (;; from = -1) {
;     if (from < 0) { from = 0; if (ctx.arrange) ctx.arrange(); }
;     ran = false;
;     for (i = from; i < ctx.warps; i++) {
;       record = record_of(ctx.order[i]);
;       if (record.state != ready) continue;
;       ran = true;
;       if (answer = run_warp(record)) { ctx.resume_at = i; return answer; }
;     }
;     if (block_done()) return 0;
;     if (!ran) return 4;                        // all wait, and none comes
;   }
define internal i32 @run_block(ptr %ctx, ptr %fast, ptr %general, i64 %from) {
entry:
  %order_at = call i64 @context(ptr %ctx, i64 15)              ; ORDER
  %order = inttoptr i64 %order_at to ptr
  %count = call i64 @context(ptr %ctx, i64 13)                 ; WARPS
  %arrange_at = call i64 @context(ptr %ctx, i64 7)             ; ARRANGE
  %arrange = inttoptr i64 %arrange_at to ptr
  %in_round = icmp sge i64 %from, 0
  br i1 %in_round, label %round, label %begin
begin:
  %ordered = icmp eq i64 %arrange_at, 0
  br i1 %ordered, label %round, label %shuffle
shuffle:
  call void %arrange()
  br label %round
round:
  %start = phi i64 [ %from, %entry ], [ 0, %begin ], [ 0, %shuffle ]
  br label %next
next:
  %i = phi i64 [ %start, %round ], [ %following, %continue ]
  %ran = phi i1 [ false, %round ], [ %ran_now, %continue ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %look, label %end_of_round
look:
  %number_at = getelementptr i32, ptr %order, i64 %i
  %number = load i32, ptr %number_at, align 4
  %wide = zext i32 %number to i64
  %record = call ptr @record_of(ptr %ctx, i64 %wide)
  %state = load i32, ptr %record, align 8
  %ready = icmp eq i32 %state, 0
  br i1 %ready, label %run, label %continue
run:
  %answer = call i32 @run_warp(ptr %ctx, ptr %record, ptr %fast, ptr %general)
  %fine = icmp eq i32 %answer, 0
  br i1 %fine, label %continue, label %stop
continue:
  %ran_now = phi i1 [ %ran, %look ], [ true, %run ]
  %following = add i64 %i, 1
  br label %next
end_of_round:
  %done = call i1 @block_done(ptr %ctx)
  br i1 %done, label %finished, label %not_done
not_done:
  br i1 %ran, label %begin, label %stuck
stop:
  call void @set_context(ptr %ctx, i64 33, i64 %i)             ; RESUME_AT
  ret i32 %answer
finished:
  ret i32 0
stuck:
  ret i32 4
}

; Run the blocks at positions ctx.first to ctx.last: 0, or the answer that ended it.
; With ctx.resumes the first one goes on at ctx.resume_at; -1 there means that it has
; not begun. Answer 6 asks for code of the general tier.
;   resumes = ctx.resumes && ctx.resume_at >= 0;  ctx.resumes = 0;
;   for (position = ctx.first; position < ctx.last; position++, resumes = false) {
;     ctx.position = position;
;     from = resumes ? ctx.resume_at : -1;
;     if (!resumes) {
;       ctx.resume_at = -1;
;       if (!general && starts_general()) return 6;
;       begin_block(position);
;     }
;     if (answer = run_block(from)) return answer;
;     if ((position + 1 - ctx.first) % 64 == 0 && (answer = ctx.tick())) return answer;
;   }
;   return 0;
define i32 @ck_run(ptr %ctx, ptr %fast, ptr %general) nounwind {
entry:
  %first = call i64 @context(ptr %ctx, i64 17)                 ; FIRST
  %last = call i64 @context(ptr %ctx, i64 18)                  ; LAST
  %asked = call i64 @context(ptr %ctx, i64 31)                 ; RESUMES
  %resume_at = call i64 @context(ptr %ctx, i64 33)             ; RESUME_AT
  call void @set_context(ptr %ctx, i64 31, i64 0)              ; RESUMES
  %wanted = icmp ne i64 %asked, 0
  %begun = icmp sge i64 %resume_at, 0
  %resumes = and i1 %wanted, %begun
  %no_general = icmp eq ptr %general, null
  br label %next
next:
  %position = phi i64 [ %first, %entry ], [ %following, %go_on ]
  %in_middle = phi i1 [ %resumes, %entry ], [ false, %go_on ]
  %more = icmp slt i64 %position, %last
  br i1 %more, label %block, label %end
block:
  call void @set_context(ptr %ctx, i64 28, i64 %position)      ; POSITION
  br i1 %in_middle, label %run, label %check
check:
  call void @set_context(ptr %ctx, i64 33, i64 -1)             ; RESUME_AT
  br i1 %no_general, label %look, label %begin
look:
  %impossible = call i1 @starts_general(ptr %ctx, ptr %fast)
  br i1 %impossible, label %compile, label %begin
begin:
  call void @begin_block(ptr %ctx, i64 %position)
  br label %run
run:
  %from = phi i64 [ %resume_at, %block ], [ -1, %begin ]
  %answer = call i32 @run_block(ptr %ctx, ptr %fast, ptr %general, i64 %from)
  %fine = icmp eq i32 %answer, 0
  br i1 %fine, label %done, label %stop
done:
  %following = add i64 %position, 1
  %blocks = sub i64 %following, %first
  %part = and i64 %blocks, 63
  %pause = icmp eq i64 %part, 0
  br i1 %pause, label %ask, label %go_on
ask:
  %tick_at = call i64 @context(ptr %ctx, i64 6)                ; TICK
  %tick = inttoptr i64 %tick_at to ptr
  %wish = call i32 %tick()
  %on = icmp eq i32 %wish, 0
  br i1 %on, label %go_on, label %interrupt
go_on:
  br label %next
stop:
  ret i32 %answer
interrupt:
  ret i32 %wish
compile:
  ret i32 6
end:
  ret i32 0
}
