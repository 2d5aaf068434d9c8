#ifndef OPTIML_STUB_STDDEF_H_
#define OPTIML_STUB_STDDEF_H_
#ifndef NULL
#define NULL 0
#endif
#ifndef offsetof
#define offsetof(type, member) ((size_t) __builtin_offsetof(type, member) (((type*)0)->member))
#endif
#endif
