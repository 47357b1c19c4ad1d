// <stdint.h>: integers of a given width, and their limits.
#pragma once

#include <cuda/std/cstdint>
