"""The text around the body of a random PTX kernel."""

LOCAL = """\t.local .align 16 .b8 \t__local_depot0[64];
\t.reg .b64 \t%SP;
\t.reg .b64 \t%SPL;"""

HELPER = """
.func (.param .b32 func_retval0) helper(
\t.param .b32 helper_param_0,
\t.param .b32 helper_param_1
)
{{
\t.reg .pred \t%p<3>;
\t.reg .b32 \t%r<8>;
\tld.param.u32 \t%r1, [helper_param_0];
\tld.param.u32 \t%r2, [helper_param_1];
\tand.b32 \t%r3, %r2, 3;
\tsetp.eq.s32 \t%p1, %r3, 0;
\t@%p1 bra \t$L__BB1_2;

$L__BB1_1:
\tmad.lo.s32 \t%r1, %r1, {0}, %r3;
\tadd.s32 \t%r3, %r3, -1;
\tsetp.ne.s32 \t%p2, %r3, 0;
\t@%p2 bra \t$L__BB1_1;

$L__BB1_2:
\tst.param.b32 \t[func_retval0+0], %r1;
\tret;

}}
"""

TEMPLATE = """.version 8.0
.target sm_90
.address_size 64

.const .align 16 .u32 table[64] = {{{table}}};
{outside}
{helper}
.visible .entry k(
\t.param .u64 k_param_0,
\t.param .u64 k_param_1,
\t.param .u64 k_param_2,
\t.param .u64 k_param_3,
\t.param .u64 k_param_4,
\t.param .u32 k_param_5,
\t.param .u32 k_param_6,
\t.param .u64 k_param_7,
\t.param .align 4 .b8 k_param_8[16]
)
{{
{local}
{registers}
\t.loc\t1 3 0
{inside}

{body}

}}
\t.file\t1 "fuzz.cu"
"""
