// A lock, done right: whoever holds it sees what the holder before wrote.
//
// What     total[0] += number of threads of the launch; lock starts as 0.
// Idea     atomicCAS takes the lock, atomicExch gives it back, and a fence
//          behind the one and in front of the other orders what is between.
// Launch   block any; grid any, at most as many blocks as run at once.
// Limits   Threads pass one by one, and those that wait ask over and over;
//          lock_by_block.cu sends one thread of each block.

__global__ void count_threads(int *lock, int *total)
{
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();  // see what the last holder wrote
            *total += 1;
            __threadfence();  // let the next holder see it
            atomicExch(lock, 0);
            done = true;
        }
    }
}
