#ifndef OPTIML_STUB_STDDEF_H_
#define OPTIML_STUB_STDDEF_H_
#ifndef NULL
#define NULL 0
#endif
// NVRTC's own expands to a builtin that it does not have.
#undef offsetof
#define offsetof(type, member) ((size_t) & (((type*)0)->member))
#endif
