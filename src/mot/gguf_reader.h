#ifndef OPTIML_MOT_GGUF_READER_H_
#define OPTIML_MOT_GGUF_READER_H_

// GgufReader: keys and tensors of a GGUF file in memory, for files that anybody may have written.
// The library's own functions abort the program when a key has another type than the caller thinks;
// these return an error.

#include <gguf.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace optiml::mot {

class GgufReader {
 public:
  // `bytes` must outlive the reader.
  static Result<GgufReader> Open(std::string_view bytes);

  Result<uint32_t> U32(const std::string& key) const;
  Result<float> F32(const std::string& key) const;
  Result<bool> Bool(const std::string& key) const;
  Result<std::string> String(const std::string& key) const;
  Result<std::vector<uint32_t>> U32Array(const std::string& key) const;
  Result<std::vector<std::string>> StringArray(const std::string& key) const;

  int64_t tensor_count() const { return gguf_get_n_tensors(gguf_.get()); }
  bool HasTensor(const std::string& name) const;
  // The numbers of an F32 tensor of exactly that shape (the last dimension varies most slowly).
  Result<std::vector<float>> Tensor(const std::string& name,
                                    const std::vector<int64_t>& shape) const;

 private:
  struct Free {
    void operator()(gguf_context* gguf) const { gguf_free(gguf); }
  };
  explicit GgufReader(std::string_view bytes) : bytes_(bytes) {}
  // The index of a key of that type (of its elements, when `is_array`).
  Result<int64_t> Find(const std::string& key, gguf_type type, bool is_array) const;

  std::string_view bytes_;
  std::unique_ptr<gguf_context, Free> gguf_;
};

}  // namespace optiml::mot

#endif  // OPTIML_MOT_GGUF_READER_H_
