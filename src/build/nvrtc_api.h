#ifndef OPTIML_BUILD_NVRTC_API_H_
#define OPTIML_BUILD_NVRTC_API_H_

// The few functions of NVRTC that we call, as pointers that are filled when the library is opened:
// no CUDA header is needed to compile OptiML. Declarations follow NVIDIA's documented C interface
// (NVRTC 12.0 and later); result codes are plain ints here. Filled once, then only read.

#include <cstddef>

namespace optiml {

struct NvrtcApi {
  static constexpr int kSuccess = 0;
  static constexpr int kCompilationError = 6;
  static constexpr int kNameExpressionNotValid = 10;
  static constexpr int kCancelled = 16;

  using Program = void*;
  const char* (*get_error_string)(int) = nullptr;
  int (*version)(int* major, int* minor) = nullptr;
  int (*get_num_supported_archs)(int* count) = nullptr;
  int (*get_supported_archs)(int* archs) = nullptr;
  int (*create_program)(Program*, const char* source, const char* name, int header_count,
                        const char* const* headers, const char* const* include_names) = nullptr;
  int (*destroy_program)(Program*) = nullptr;
  int (*compile_program)(Program, int option_count, const char* const* options) = nullptr;
  int (*get_ptx_size)(Program, size_t* bytes_with_zero) = nullptr;
  int (*get_ptx)(Program, char*) = nullptr;
  int (*get_cubin_size)(Program, size_t* bytes) = nullptr;
  int (*get_cubin)(Program, char*) = nullptr;
  int (*get_program_log_size)(Program, size_t* bytes_with_zero) = nullptr;
  int (*get_program_log)(Program, char*) = nullptr;
  int (*add_name_expression)(Program, const char*) = nullptr;
  int (*get_lowered_name)(Program, const char* expression, const char** lowered) = nullptr;
  // NVRTC 12.8 and later, null before: the callback ends a compilation by returning 1.
  int (*set_flow_callback)(Program, int (*callback)(void* payload, void*), void* payload) = nullptr;
};

}  // namespace optiml

#endif  // OPTIML_BUILD_NVRTC_API_H_
