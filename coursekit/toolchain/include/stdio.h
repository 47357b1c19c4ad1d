// <stdio.h>: printf is built into the compiler. There are no files on a GPU.
#pragma once
