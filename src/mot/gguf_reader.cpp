#include "mot/gguf_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ggml.h>

#include <cstring>

#include "mot/llama_runtime.h"

namespace optiml::mot {

Result<GgufReader> GgufReader::Open(std::string_view bytes) {
  if (bytes.substr(0, 4) != GGUF_MAGIC) {
    return Error(ErrorCode::kParse, "not a GGUF file");
  }
  GgufReader reader(bytes);
  const LlamaLog log;
  gguf_init_params parameters{};
  parameters.no_alloc = true;
  reader.gguf_.reset(gguf_init_from_buffer(bytes.data(), bytes.size(), parameters));
  if (reader.gguf_ == nullptr) {
    return Error(ErrorCode::kParse, "truncated or broken: " + log.Reason("no GGUF header"));
  }
  return reader;
}

Result<int64_t> GgufReader::Find(const std::string& key, gguf_type type, bool is_array) const {
  const int64_t index = gguf_find_key(gguf_.get(), key.c_str());
  if (index < 0) {
    return Error(ErrorCode::kParse, fmt::format("key {} is missing", key));
  }
  const gguf_type found = gguf_get_kv_type(gguf_.get(), index);
  const bool fits = is_array
                        ? found == GGUF_TYPE_ARRAY && gguf_get_arr_type(gguf_.get(), index) == type
                        : found == type;
  if (!fits) {
    return Error(ErrorCode::kParse, fmt::format("key {} is not of type {}{}", key,
                                                gguf_type_name(type), is_array ? "[]" : ""));
  }
  return index;
}

Result<uint32_t> GgufReader::U32(const std::string& key) const {
  OPTIML_ASSIGN(const int64_t index, Find(key, GGUF_TYPE_UINT32, false));
  return gguf_get_val_u32(gguf_.get(), index);
}

Result<float> GgufReader::F32(const std::string& key) const {
  OPTIML_ASSIGN(const int64_t index, Find(key, GGUF_TYPE_FLOAT32, false));
  return gguf_get_val_f32(gguf_.get(), index);
}

Result<bool> GgufReader::Bool(const std::string& key) const {
  OPTIML_ASSIGN(const int64_t index, Find(key, GGUF_TYPE_BOOL, false));
  return gguf_get_val_bool(gguf_.get(), index);
}

Result<std::string> GgufReader::String(const std::string& key) const {
  OPTIML_ASSIGN(const int64_t index, Find(key, GGUF_TYPE_STRING, false));
  return std::string(gguf_get_val_str(gguf_.get(), index));
}

Result<std::vector<uint32_t>> GgufReader::U32Array(const std::string& key) const {
  OPTIML_ASSIGN(const int64_t index, Find(key, GGUF_TYPE_UINT32, true));
  std::vector<uint32_t> values(gguf_get_arr_n(gguf_.get(), index));
  if (!values.empty()) {
    std::memcpy(values.data(), gguf_get_arr_data(gguf_.get(), index),
                values.size() * sizeof(uint32_t));
  }
  return values;
}

Result<std::vector<std::string>> GgufReader::StringArray(const std::string& key) const {
  OPTIML_ASSIGN(const int64_t index, Find(key, GGUF_TYPE_STRING, true));
  std::vector<std::string> values;
  for (size_t i = 0; i < gguf_get_arr_n(gguf_.get(), index); ++i) {
    values.emplace_back(gguf_get_arr_str(gguf_.get(), index, i));
  }
  return values;
}

bool GgufReader::HasTensor(const std::string& name) const {
  return gguf_find_tensor(gguf_.get(), name.c_str()) >= 0;
}

Result<std::vector<float>> GgufReader::Tensor(const std::string& name,
                                              const std::vector<int64_t>& shape) const {
  const int64_t index = gguf_find_tensor(gguf_.get(), name.c_str());
  if (index < 0) {
    return Error(ErrorCode::kParse, fmt::format("tensor {} is missing", name));
  }
  const int64_t* found = gguf_get_tensor_ne(gguf_.get(), index);
  bool fits = gguf_get_tensor_type(gguf_.get(), index) == GGML_TYPE_F32;
  uint64_t count = 1;
  for (size_t i = 0; i < GGML_MAX_DIMS; ++i) {
    fits = fits && found[i] == (i < shape.size() ? shape[i] : 1);
    count *= i < shape.size() ? static_cast<uint64_t>(shape[i]) : 1;
  }
  if (!fits) {
    return Error(ErrorCode::kParse,
                 fmt::format("tensor {} is not F32 [{}]", name, fmt::join(shape, ", ")));
  }
  const size_t begin =
      gguf_get_data_offset(gguf_.get()) + gguf_get_tensor_offset(gguf_.get(), index);
  if (begin > bytes_.size() || count > (bytes_.size() - begin) / sizeof(float)) {
    return Error(ErrorCode::kParse, fmt::format("truncated: tensor {} ends after the file", name));
  }
  std::vector<float> values(count);
  std::memcpy(values.data(), bytes_.data() + begin, count * sizeof(float));
  return values;
}

}  // namespace optiml::mot
