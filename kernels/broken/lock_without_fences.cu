// Count all threads under a lock that orders nothing.
//
// What     total[0] = number of threads of the launch; lock starts as 0.
// Launch   block 64; grid n.
// Defect   An atomic by itself orders no other access: the next holder of
//          the lock may see the old total.
// Repair   __threadfence() behind atomicCAS and in front of atomicExch.
//
// finds: n=2 racecheck DataRaceError line 16

__global__ void count_threads(int *lock, int *total)
{
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            *total += 1;
            atomicExch(lock, 0);
            done = true;
        }
    }
}
