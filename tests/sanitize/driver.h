#ifndef OPTIML_TESTS_SANITIZE_DRIVER_H_
#define OPTIML_TESTS_SANITIZE_DRIVER_H_

// The host program around the cases on a GPU: run_on_gpu compiles each case with a few lines that
// register it here, and links all with driver.cu. See there.

#include <cstddef>

struct SanitizeCase {
  const char* name;
  int n;
  size_t in_bytes;
  size_t out_bytes;
  void (*run)(void* in, void* out, int n);
  SanitizeCase* next;

  SanitizeCase(const char* name, int n, size_t in_bytes, size_t out_bytes,
               void (*run)(void* in, void* out, int n));
};

// Calls a launcher whatever its element types are.
template <class T, class U>
void CallLauncher(void (*launch)(const T*, U*, int), void* in, void* out, int n) {
  launch(static_cast<const T*>(in), static_cast<U*>(out), n);
}

#endif  // OPTIML_TESTS_SANITIZE_DRIVER_H_
