#ifndef OPTIML_STUB_STDLIB_H_
#define OPTIML_STUB_STDLIB_H_
#include <stddef.h>
#ifndef EXIT_FAILURE
#define EXIT_FAILURE 1
#define EXIT_SUCCESS 0
#define RAND_MAX 2147483647
#endif
typedef unsigned int uint;
typedef unsigned short ushort;
typedef unsigned long ulong;
#endif
