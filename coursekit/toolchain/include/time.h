// <time.h>: clock is built into the compiler, and counts the cycles of an SM.
#pragma once
