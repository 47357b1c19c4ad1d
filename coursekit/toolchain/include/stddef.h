// <stddef.h>: size_t, ptrdiff_t and NULL are built into the compiler.
#pragma once

#define offsetof(type, member) __builtin_offsetof(type, member)
typedef decltype(nullptr) nullptr_t;
