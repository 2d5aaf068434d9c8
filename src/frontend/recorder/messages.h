// What a recorded launcher prints, and how it ends: nobody reads its messages, and it must not end.

#pragma once

#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "trace.h"

namespace {

// What a format may do beside printing: %n writes through a pointer.
void CheckFormat(const char* format) {
  for (const char* at = format; *at != '\0'; ++at) {
    if (*at != '%') {
      continue;
    }
    for (++at; *at != '\0' && std::strchr("0123456789.*-+ #'hlLqjzt", *at) != nullptr; ++at) {
    }
    if (*at == 'n') {
      optiml::recording::Fault(
          "launcher passes a pointer to a message, which may be written to there (%n)");
    }
    if (*at == '\0') {
      return;
    }
  }
}

bool IsMessageStream(FILE* file) {
  return file == stdout || file == stderr;
}

}  // namespace

extern "C" {

// Messages: nobody reads them. Other files cannot be opened.
int vfprintf(FILE* file, const char* format, va_list) {
  if (!IsMessageStream(file)) {
    optiml::recording::Fault("launcher writes to a file");
  }
  CheckFormat(format);
  return 0;
}
int vprintf(const char* format, va_list) {
  CheckFormat(format);
  return 0;
}
int printf(const char* format, ...) {
  CheckFormat(format);
  return 0;
}
int fprintf(FILE* file, const char* format, ...) {
  if (!IsMessageStream(file)) {
    optiml::recording::Fault("launcher writes to a file");
  }
  CheckFormat(format);
  return 0;
}
int puts(const char*) {
  return 0;
}
int putchar(int c) {
  return c;
}
int fputs(const char*, FILE*) {
  return 0;
}
int fputc(int c, FILE*) {
  return c;
}
int putc(int c, FILE*) {
  return c;
}
int fflush(FILE*) {
  return 0;
}
size_t fwrite(const void*, size_t, size_t count, FILE*) {
  return count;
}
void perror(const char*) {}

// The launcher's own ends; those of the C library cannot be replaced.
[[noreturn]] void optiml_recorder_abort() {
  optiml::recording::Fault("launcher calls abort");
}
[[noreturn]] void optiml_recorder_exit(int) {
  optiml::recording::Fault("launcher calls exit");
}
[[noreturn]] void __assert_fail(const char*, const char*, unsigned int, const char*) {
  optiml::recording::Fault("an assertion of the launcher fails");
}

}  // extern "C"
