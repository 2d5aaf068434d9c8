// Bundles as GGUF files.
#include <fmt/format.h>
#include <ggml.h>
#include <gguf.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <system_error>

#include "base/check.h"
#include "base/file_system.h"
#include "mot/bundle.h"
#include "mot/gguf_reader.h"
#include "mot/llama_runtime.h"

namespace optiml::mot {
namespace {

constexpr char kArchitecture[] = "optiml-mot";
constexpr size_t kMostBytes = size_t{4} << 30;
constexpr uint32_t kMostExperts = 64;
constexpr uint32_t kMostBoundaries = 64;
constexpr uint32_t kWidest = 1U << 20;  // of any of its widths; far beyond every model

std::string ExpertKey(size_t expert, const char* key) {
  return fmt::format("mot.expert.{}.{}", expert, key);
}
std::string BoundaryTensor(size_t boundary, const char* name) {
  return fmt::format("mot.q{}.{}", boundary + 1, name);
}
std::string ExpertTensor(size_t boundary, const char* name, size_t expert) {
  return fmt::format("mot.q{}.{}.{}", boundary + 1, name, expert);
}

Result<uint32_t> Within(const GgufReader& reader, const std::string& key, uint32_t least,
                        uint32_t most) {
  OPTIML_ASSIGN(const uint32_t value, reader.U32(key));
  if (value < least || value > most) {
    return Error(ErrorCode::kParse,
                 fmt::format("key {} is {} (allowed: {} to {})", key, value, least, most));
  }
  return value;
}

Result<ContentHash> Hash(const GgufReader& reader, const std::string& key) {
  OPTIML_ASSIGN(const std::string text, reader.String(key));
  auto hash = ContentHash::Parse(text);
  if (!hash) {
    return Error(ErrorCode::kParse, fmt::format("key {} is not a sha256", key));
  }
  return hash;
}

Result<BundleExpert> ReadExpert(const GgufReader& reader, size_t m) {
  BundleExpert expert;
  OPTIML_ASSIGN(expert.name, reader.String(ExpertKey(m, "name")));
  OPTIML_ASSIGN(expert.file, reader.String(ExpertKey(m, "file")));
  OPTIML_ASSIGN(expert.architecture, reader.String(ExpertKey(m, "architecture")));
  OPTIML_ASSIGN(const uint32_t layers, Within(reader, ExpertKey(m, "layers"), 1, kWidest));
  OPTIML_ASSIGN(expert.width, Within(reader, ExpertKey(m, "width"), 1, kWidest));
  OPTIML_ASSIGN(expert.weights, Hash(reader, ExpertKey(m, "sha256")));
  OPTIML_ASSIGN(expert.vocabulary, Hash(reader, ExpertKey(m, "vocabulary_sha256")));
  OPTIML_ASSIGN(expert.prompt_format, reader.String(ExpertKey(m, "prompt_format")));
  OPTIML_ASSIGN(expert.view, reader.StringArray(ExpertKey(m, "view")));
  OPTIML_ASSIGN(expert.can_be_primary, reader.Bool(ExpertKey(m, "can_be_primary")));
  OPTIML_ASSIGN(const std::vector<uint32_t> boundaries,
                reader.U32Array(ExpertKey(m, "boundaries")));
  expert.layers = static_cast<int>(layers);
  for (const uint32_t layer : boundaries) {
    expert.boundaries.push_back(static_cast<int>(std::min(layer, kWidest)));
  }
  return expert;
}

Result<BoundaryWeights> ReadBoundary(const GgufReader& reader, const Bundle& bundle, size_t q) {
  const int64_t s = bundle.shared_width;
  BoundaryWeights weights;
  OPTIML_ASSIGN(weights.query, reader.Tensor(BoundaryTensor(q, "wq"), {s, s}));
  OPTIML_ASSIGN(weights.key, reader.Tensor(BoundaryTensor(q, "wk"), {s, s}));
  OPTIML_ASSIGN(weights.value, reader.Tensor(BoundaryTensor(q, "wv"), {s, s}));
  OPTIML_ASSIGN(weights.output, reader.Tensor(BoundaryTensor(q, "wo"), {s, s}));
  OPTIML_ASSIGN(weights.null_key, reader.Tensor(BoundaryTensor(q, "null_k"), {s}));
  for (size_t m = 0; m < bundle.experts.size(); ++m) {
    const int64_t d = bundle.experts[m].width;
    OPTIML_ASSIGN(weights.in.emplace_back(), reader.Tensor(ExpertTensor(q, "in", m), {d, s}));
    OPTIML_ASSIGN(weights.kind.emplace_back(), reader.Tensor(ExpertTensor(q, "type", m), {s}));
    weights.down.emplace_back();
    weights.up.emplace_back();
    if (bundle.experts[m].can_be_primary) {
      OPTIML_ASSIGN(weights.down.back(), reader.Tensor(ExpertTensor(q, "down", m), {d, s}));
      OPTIML_ASSIGN(weights.up.back(), reader.Tensor(ExpertTensor(q, "up", m), {s, d}));
    }
  }
  return weights;
}

Result<RouterWeights> ReadRouter(const GgufReader& reader, int64_t experts) {
  RouterWeights router;
  OPTIML_ASSIGN(router.encoder, reader.String("mot.router.encoder"));
  OPTIML_ASSIGN(router.code_width, Within(reader, "mot.router.code_width", 1, kWidest));
  OPTIML_ASSIGN(router.hidden_width, Within(reader, "mot.router.hidden_width", 1, kWidest));
  OPTIML_ASSIGN(const uint32_t top_k, Within(reader, "mot.router.top_k", 1, kMostExperts));
  OPTIML_ASSIGN(router.encoder_model, Hash(reader, "mot.router.encoder_sha256"));
  router.top_k = static_cast<int>(top_k);
  OPTIML_ASSIGN(router.hidden,
                reader.Tensor("mot.router.w1", {router.code_width, router.hidden_width}));
  OPTIML_ASSIGN(router.hidden_bias, reader.Tensor("mot.router.b1", {router.hidden_width}));
  OPTIML_ASSIGN(router.output, reader.Tensor("mot.router.w2", {router.hidden_width, experts}));
  OPTIML_ASSIGN(router.output_bias, reader.Tensor("mot.router.b2", {experts}));
  return router;
}

int64_t TensorCount(const Bundle& bundle) {
  int64_t count = 4;
  for (const BundleExpert& expert : bundle.experts) {
    count += static_cast<int64_t>(bundle.boundaries.size()) * (expert.can_be_primary ? 4 : 2);
  }
  return count + 5 * static_cast<int64_t>(bundle.boundaries.size());
}

Result<Bundle> Read(const GgufReader& reader) {
  OPTIML_ASSIGN(const std::string architecture, reader.String("general.architecture"));
  if (architecture != kArchitecture) {
    return Error(ErrorCode::kParse,
                 fmt::format("its architecture is \"{}\", not {}", architecture, kArchitecture));
  }
  OPTIML_ASSIGN(const uint32_t format, reader.U32("mot.format"));
  if (format != kBundleFormat) {
    return Error(ErrorCode::kParse, fmt::format("unknown version {} of the format (known: {})",
                                                format, kBundleFormat));
  }
  Bundle bundle;
  OPTIML_ASSIGN(bundle.shared_width, Within(reader, "mot.shared_dim", 1, kWidest));
  OPTIML_ASSIGN(const uint32_t heads, Within(reader, "mot.heads", 1, kWidest));
  OPTIML_ASSIGN(bundle.norm_epsilon, reader.F32("mot.norm_eps"));
  OPTIML_ASSIGN(const std::string mode, reader.String("mot.peer_mode"));
  OPTIML_ASSIGN(bundle.peer_mode, ParsePeerMode(mode));
  OPTIML_ASSIGN(bundle.training, reader.String("mot.training"));
  OPTIML_ASSIGN(const uint32_t experts, Within(reader, "mot.expert_count", 1, kMostExperts));
  OPTIML_ASSIGN(const uint32_t boundaries,
                Within(reader, "mot.boundary_count", 1, kMostBoundaries));
  bundle.heads = static_cast<int>(heads);
  for (size_t m = 0; m < experts; ++m) {
    OPTIML_ASSIGN(bundle.experts.emplace_back(), ReadExpert(reader, m));
  }
  for (size_t q = 0; q < boundaries; ++q) {
    OPTIML_ASSIGN(bundle.boundaries.emplace_back(), ReadBoundary(reader, bundle, q));
  }
  OPTIML_ASSIGN(bundle.router, ReadRouter(reader, experts));
  if (reader.tensor_count() != TensorCount(bundle)) {
    return Error(ErrorCode::kParse, fmt::format("it holds {} tensors, not {}",
                                                reader.tensor_count(), TensorCount(bundle)));
  }
  OPTIML_TRY(CheckBundle(bundle));
  return bundle;
}

class Writer {
 public:
  explicit Writer(const Bundle& bundle)
      : gguf_(gguf_init_empty()),
        ggml_(ggml_init({static_cast<size_t>(TensorCount(bundle)) * (ggml_tensor_overhead() + 64),
                         nullptr, true})) {}
  ~Writer() {
    gguf_free(gguf_);
    ggml_free(ggml_);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void Set(const std::string& key, uint32_t value) { gguf_set_val_u32(gguf_, key.c_str(), value); }
  void Set(const std::string& key, const std::string& value) {
    gguf_set_val_str(gguf_, key.c_str(), value.c_str());
  }
  void Set(const std::string& key, float value) { gguf_set_val_f32(gguf_, key.c_str(), value); }
  void SetBool(const std::string& key, bool value) { gguf_set_val_bool(gguf_, key.c_str(), value); }
  void Set(const std::string& key, const std::vector<std::string>& values) {
    std::vector<const char*> pointers;
    for (const std::string& value : values) {
      pointers.push_back(value.c_str());
    }
    gguf_set_arr_str(gguf_, key.c_str(), pointers.data(), pointers.size());
  }
  void Set(const std::string& key, const std::vector<int>& values) {
    const std::vector<uint32_t> numbers(values.begin(), values.end());
    gguf_set_arr_data(gguf_, key.c_str(), GGUF_TYPE_UINT32, numbers.data(), numbers.size());
  }
  // Borrows `values` until the file is written.
  void Tensor(const std::string& name, const std::vector<float>& values, int64_t inputs,
              int64_t outputs = 0) {
    ggml_tensor* tensor = outputs > 0 ? ggml_new_tensor_2d(ggml_, GGML_TYPE_F32, inputs, outputs)
                                      : ggml_new_tensor_1d(ggml_, GGML_TYPE_F32, inputs);
    OPTIML_CHECK(static_cast<size_t>(ggml_nelements(tensor)) == values.size(),
                 "the bundle was checked");
    ggml_set_name(tensor, name.c_str());
    gguf_add_tensor(gguf_, tensor);
    gguf_set_tensor_data(gguf_, name.c_str(), values.data());
  }
  bool Write(const std::string& file) const {
    return gguf_write_to_file(gguf_, file.c_str(), false);
  }

 private:
  gguf_context* gguf_;
  ggml_context* ggml_;
};

void WriteExpert(Writer& writer, const BundleExpert& expert, size_t m) {
  writer.Set(ExpertKey(m, "name"), expert.name);
  writer.Set(ExpertKey(m, "file"), expert.file);
  writer.Set(ExpertKey(m, "architecture"), expert.architecture);
  writer.Set(ExpertKey(m, "layers"), static_cast<uint32_t>(expert.layers));
  writer.Set(ExpertKey(m, "width"), static_cast<uint32_t>(expert.width));
  writer.Set(ExpertKey(m, "sha256"), expert.weights.Hex());
  writer.Set(ExpertKey(m, "vocabulary_sha256"), expert.vocabulary.Hex());
  writer.Set(ExpertKey(m, "prompt_format"), expert.prompt_format);
  writer.Set(ExpertKey(m, "view"), expert.view);
  writer.SetBool(ExpertKey(m, "can_be_primary"), expert.can_be_primary);
  writer.Set(ExpertKey(m, "boundaries"), expert.boundaries);
}

void WriteBoundary(Writer& writer, const Bundle& bundle, size_t q) {
  const BoundaryWeights& weights = bundle.boundaries[q];
  const int64_t s = bundle.shared_width;
  writer.Tensor(BoundaryTensor(q, "wq"), weights.query, s, s);
  writer.Tensor(BoundaryTensor(q, "wk"), weights.key, s, s);
  writer.Tensor(BoundaryTensor(q, "wv"), weights.value, s, s);
  writer.Tensor(BoundaryTensor(q, "wo"), weights.output, s, s);
  writer.Tensor(BoundaryTensor(q, "null_k"), weights.null_key, s);
  for (size_t m = 0; m < bundle.experts.size(); ++m) {
    const int64_t d = bundle.experts[m].width;
    writer.Tensor(ExpertTensor(q, "in", m), weights.in[m], d, s);
    writer.Tensor(ExpertTensor(q, "type", m), weights.kind[m], s);
    if (bundle.experts[m].can_be_primary) {
      writer.Tensor(ExpertTensor(q, "down", m), weights.down[m], d, s);
      writer.Tensor(ExpertTensor(q, "up", m), weights.up[m], s, d);
    }
  }
}

void WriteRouter(Writer& writer, const RouterWeights& router, int64_t experts) {
  writer.Set("mot.router.encoder", router.encoder);
  writer.Set("mot.router.code_width", static_cast<uint32_t>(router.code_width));
  writer.Set("mot.router.hidden_width", static_cast<uint32_t>(router.hidden_width));
  writer.Set("mot.router.top_k", static_cast<uint32_t>(router.top_k));
  writer.Set("mot.router.encoder_sha256", router.encoder_model.Hex());
  writer.Tensor("mot.router.w1", router.hidden, router.code_width, router.hidden_width);
  writer.Tensor("mot.router.b1", router.hidden_bias, router.hidden_width);
  writer.Tensor("mot.router.w2", router.output, router.hidden_width, experts);
  writer.Tensor("mot.router.b2", router.output_bias, experts);
}

}  // namespace

Result<Bundle> ParseBundle(std::string_view bytes) {
  OPTIML_ASSIGN(const GgufReader reader, GgufReader::Open(bytes));
  auto bundle = Read(reader);
  if (!bundle) {
    // It may quote the file, which may hold anything.
    std::string message = bundle.error().message();
    std::replace_if(
        message.begin(), message.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; }, '?');
    return Error(ErrorCode::kParse, message);
  }
  return bundle;
}

Result<Bundle> LoadBundle(const std::filesystem::path& file) {
  OPTIML_ASSIGN(const std::string bytes, ReadFile(file, kMostBytes));
  auto bundle = ParseBundle(bytes);
  if (!bundle) {
    return std::move(bundle).error().WithContext(file.string());
  }
  return bundle;
}

Result<void> SaveBundle(const Bundle& bundle, const std::filesystem::path& file) {
  InitialiseLlama();
  const auto checked = CheckBundle(bundle);
  OPTIML_CHECK(checked.has_value(), "only whole bundles are written");
  Writer writer(bundle);
  writer.Set("general.architecture", std::string(kArchitecture));
  writer.Set("mot.format", kBundleFormat);
  writer.Set("mot.shared_dim", static_cast<uint32_t>(bundle.shared_width));
  writer.Set("mot.heads", static_cast<uint32_t>(bundle.heads));
  writer.Set("mot.norm_eps", bundle.norm_epsilon);
  writer.Set("mot.peer_mode", PeerModeName(bundle.peer_mode));
  writer.Set("mot.training", bundle.training);
  writer.Set("mot.expert_count", static_cast<uint32_t>(bundle.experts.size()));
  writer.Set("mot.boundary_count", static_cast<uint32_t>(bundle.boundaries.size()));
  for (size_t m = 0; m < bundle.experts.size(); ++m) {
    WriteExpert(writer, bundle.experts[m], m);
  }
  for (size_t q = 0; q < bundle.boundaries.size(); ++q) {
    WriteBoundary(writer, bundle, q);
  }
  WriteRouter(writer, bundle.router, static_cast<int64_t>(bundle.experts.size()));
  const std::filesystem::path part = file.string() + ".part";
  std::error_code error;
  if (writer.Write(part.string())) {
    std::filesystem::rename(part, file, error);
  } else {
    error = std::make_error_code(std::errc::io_error);
  }
  if (error) {
    const std::string reason = error.message();
    std::filesystem::remove(part, error);
    return Error(ErrorCode::kIo, fmt::format("{}: cannot write: {}", file.string(), reason));
  }
  return {};
}

}  // namespace optiml::mot
