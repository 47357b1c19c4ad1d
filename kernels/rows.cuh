// A row of any length in accesses of 16 bytes. For softmax step 8 and layernorm step 7.
//
// A row may begin at any value. Its head are the values before the first sector of 32
// bytes that begins in it, 7 at most; whole quads of four values follow; what is left is
// the tail, 3 values at most. The SHARE blocks of a row take as many quads each, one
// block after the other. Head and tail go to the first threads of the first block, one
// value each.
#pragma once

#ifndef SHARE
#error "define SHARE, the number of blocks of a row, before rows.cuh"
#endif

constexpr int SECTOR = 8;  // values of 32 bytes

struct Row {
    int quads, share;  // of the whole row, and of a block
    int head, loose;   // values of the head, and of head and tail together

    // Quads of a block.
    __device__ int quads_of(int block) const
    {
        return max(min(share, quads - block * share), 0);
    }

    // Values of a block.
    __device__ int values_of(int block) const
    {
        return 4 * quads_of(block) + (block == 0 ? loose : 0);
    }

    // Where the quad of a thread of a block begins, in values.
    __device__ int place(int block, int t) const
    {
        return head + 4 * (block * share + t);
    }

    // Whether a thread has a value of head or tail, and where it lies.
    __device__ bool has_single(int block, int t) const
    {
        return block == 0 && t < loose;
    }

    __device__ int single(int t) const
    {
        return t < head ? t : 4 * quads + t;
    }
};

// The parts of a row that begins at value `start` of the matrix.
__device__ Row row_at(int start, int cols)
{
    int head = min(-start & (SECTOR - 1), cols), quads = (cols - head) / 4;
    return {quads, (quads + SHARE - 1) / SHARE, head, cols - 4 * quads};
}
