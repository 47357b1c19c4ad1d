// <stdlib.h>: malloc, free and abs are built into the compiler.
#pragma once

#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define RAND_MAX 2147483647
