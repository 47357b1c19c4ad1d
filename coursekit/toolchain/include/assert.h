// <assert.h>: assert is built into the compiler; NDEBUG turns it off.

#ifdef NDEBUG
#undef assert
#define assert(condition) ((void)0)
#endif
