// Philox 4x32-10: four random words from a counter and a key, without a state.

#pragma once

// One of ten rounds: two products of 64 bits; their halves are mixed with the
// other two words and the key, and all four change places.
__device__ inline uint4 philox_round(uint4 c, uint2 key)
{
    unsigned long long left = 0xD2511F53ull * c.x;
    unsigned long long right = 0xCD9E8D57ull * c.z;
    return {unsigned(right >> 32) ^ c.y ^ key.x, unsigned(right),
            unsigned(left >> 32) ^ c.w ^ key.y, unsigned(left)};
}

__device__ inline uint4 philox(uint4 counter, uint2 key)
{
#pragma unroll
    for (int round = 0; round < 10; round++) {
        counter = philox_round(counter, key);
        key.x += 0x9E3779B9, key.y += 0xBB67AE85;
    }
    return counter;
}

// As cuRAND converts: from 2^-33 to 1, without 0, so that a logarithm is safe.
__device__ inline float uniform(unsigned word)
{
    return word * 0x1p-32f + 0x1p-33f;
}

__device__ inline float4 uniform(uint4 words)
{
    return {uniform(words.x), uniform(words.y),
            uniform(words.z), uniform(words.w)};
}

__device__ inline unsigned low(unsigned long long x) { return x; }
__device__ inline unsigned high(unsigned long long x) { return x >> 32; }
