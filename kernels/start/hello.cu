// Hello: every thread says who it is.
//
// What     One line of text from each thread of the launch.
// Idea     All threads run the same function; only their indices differ.
// Launch   Any grid and block in x; no arguments.
// Limits   The order of the lines is not promised. Printing is for
//          looking around, not for results: those go into arrays.

__global__ void hello()
{
    printf("Hello from thread %u of block %u\n", threadIdx.x, blockIdx.x);
}
