// Digits of keys, and which lanes of a warp have the same one.
#pragma once

constexpr unsigned ALL = 0xffffffff;

// The key of what is sorted: a number, or a pair of key and value.
__device__ inline unsigned &key_of(unsigned &item)
{
    return item;
}

__device__ inline unsigned &key_of(uint2 &item)
{
    return item.x;
}

template <class Item>
__device__ inline unsigned key_of(const Item &item)
{
    return key_of(const_cast<Item &>(item));
}

// Byte `pass` of a key, from 0 to 3.
__device__ inline unsigned digit_of(unsigned key, int pass)
{
    return __byte_perm(key, 0, 0x4440 + pass);
}

// Lanes whose digit has the same bit as this lane's. PTX, because the C++ of
// it, `one ? votes : ~votes`, becomes twice as many instructions.
__device__ inline unsigned lanes_with_bit(unsigned digit, int bit)
{
    unsigned same;
    asm("{\n"
        "    .reg .pred one;\n"
        "    .reg .b32 masked;\n"
        "    and.b32 masked, %1, %2;\n"
        "    setp.ne.u32 one, masked, 0;\n"
        "    vote.sync.ballot.b32 %0, one, 0xffffffff;\n"
        "    @!one not.b32 %0, %0;\n"
        "}"
        : "=r"(same)
        : "r"(digit), "r"(1u << bit));
    return same;
}

// Lanes of the warp that have the same digit; all 32 must be here.
template <int BITS>
__device__ inline unsigned lanes_with(unsigned digit)
{
    unsigned lanes = ALL;
#pragma unroll
    for (int bit = 0; bit < BITS; ++bit)
        lanes &= lanes_with_bit(digit, bit);
    return lanes;
}

// The sum of a lane's number and those of the lanes before it.
__device__ inline unsigned warp_scanned(unsigned own)
{
    for (int away = 1; away < 32; away *= 2) {
        unsigned other = __shfl_up_sync(ALL, own, away);
        if (threadIdx.x % 32 >= away)
            own += other;
    }
    return own;
}
