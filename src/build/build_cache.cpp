#include "build/build_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/file_system.h"
#include "base/log.h"

namespace optiml {
namespace {

using Json = nlohmann::json;

// Changes whenever the layout below does.
constexpr std::string_view kMagic = "optiml-build-1\n";
constexpr size_t kHexDigits = 64;
// Artifacts are some 20-200 kB; a run makes a few thousand. Beyond this the memory is emptied and
// the disk answers.
constexpr size_t kMemoryBytes = size_t{128} << 20;

size_t SizeOf(const BuildOutcome& outcome) {
  if (const auto* artifact = std::get_if<Artifact>(&outcome)) {
    return artifact->ptx.size() + artifact->cubin.size() + artifact->log.size() + sizeof(Artifact);
  }
  return std::get<BuildFailure>(outcome).log.size() + sizeof(BuildFailure);
}

BuildOutcome AsCached(BuildOutcome outcome) {
  if (auto* artifact = std::get_if<Artifact>(&outcome)) {
    artifact->from_cache = true;
    artifact->build_time = std::chrono::nanoseconds(0);
  } else {
    std::get<BuildFailure>(outcome).from_cache = true;
  }
  return outcome;
}

Json ToJson(const KernelResources& kernel) {
  return {{"name", kernel.name_expression},        {"lowered", kernel.lowered_name},
          {"registers", kernel.registers},         {"shared", kernel.static_shared_bytes},
          {"stack", kernel.stack_bytes},           {"spill_store", kernel.spill_store_bytes},
          {"spill_load", kernel.spill_load_bytes}, {"barriers", kernel.barriers}};
}

KernelResources KernelFromJson(const Json& json) {
  KernelResources kernel;
  kernel.name_expression = json.at("name").get<std::string>();
  kernel.lowered_name = json.at("lowered").get<std::string>();
  kernel.registers = json.at("registers").get<int>();
  kernel.static_shared_bytes = json.at("shared").get<uint64_t>();
  kernel.stack_bytes = json.at("stack").get<uint64_t>();
  kernel.spill_store_bytes = json.at("spill_store").get<uint64_t>();
  kernel.spill_load_bytes = json.at("spill_load").get<uint64_t>();
  kernel.barriers = json.at("barriers").get<int>();
  return kernel;
}

// Texts of the toolchain may hold bytes that are not UTF-8 (a candidate's identifiers).
std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Takes the next `count` bytes off the front.
std::optional<std::string_view> Take(std::string_view& rest, size_t count) {
  if (count > rest.size()) {
    return std::nullopt;
  }
  const std::string_view taken = rest.substr(0, count);
  rest.remove_prefix(count);
  return taken;
}

std::optional<BuildOutcome> ParseBody(std::string_view body) {
  const size_t line_end = body.find('\n');
  if (line_end == std::string_view::npos) {
    return std::nullopt;
  }
  const Json json = Json::parse(body.substr(0, line_end));
  body.remove_prefix(line_end + 1);
  const auto log = Take(body, json.at("log_bytes").get<size_t>());
  if (!log.has_value()) {
    return std::nullopt;
  }
  if (json.at("failed").get<bool>()) {
    BuildFailure failure;
    failure.stage = json.at("stage").get<std::string>();
    failure.first_error = json.at("first_error").get<std::string>();
    failure.log = *log;
    return failure;
  }
  const auto ptx = Take(body, json.at("ptx_bytes").get<size_t>());
  const auto cubin = Take(body, json.at("cubin_bytes").get<size_t>());
  const auto key = ContentHash::Parse(json.at("key").get<std::string>());
  const auto ptx_hash = ContentHash::Parse(json.at("ptx_hash").get<std::string>());
  if (!ptx.has_value() || !cubin.has_value() || !key.has_value() || !ptx_hash.has_value()) {
    return std::nullopt;
  }
  Artifact artifact;
  artifact.key = *key;
  artifact.ptx_hash = *ptx_hash;
  artifact.architecture = json.at("architecture").get<std::string>();
  artifact.toolchain = json.at("toolchain").get<std::string>();
  artifact.options = json.at("options").get<std::vector<std::string>>();
  for (const Json& kernel : json.at("kernels")) {
    artifact.kernels.push_back(KernelFromJson(kernel));
  }
  artifact.log = *log;
  artifact.ptx = *ptx;
  const auto* bytes = reinterpret_cast<const std::byte*>(cubin->data());
  artifact.cubin.assign(bytes, bytes + cubin->size());
  return artifact;
}

}  // namespace

std::string FormatBuildOutcome(const BuildOutcome& outcome) {
  std::string body;
  if (const auto* failure = std::get_if<BuildFailure>(&outcome)) {
    body = Dump({{"failed", true},
                 {"stage", failure->stage},
                 {"first_error", failure->first_error},
                 {"log_bytes", failure->log.size()}}) +
           '\n' + failure->log;
  } else {
    const auto& artifact = std::get<Artifact>(outcome);
    Json kernels = Json::array();
    for (const KernelResources& kernel : artifact.kernels) {
      kernels.push_back(ToJson(kernel));
    }
    body = Dump({{"failed", false},
                 {"key", artifact.key.Hex()},
                 {"ptx_hash", artifact.ptx_hash.Hex()},
                 {"architecture", artifact.architecture},
                 {"toolchain", artifact.toolchain},
                 {"options", artifact.options},
                 {"kernels", kernels},
                 {"log_bytes", artifact.log.size()},
                 {"ptx_bytes", artifact.ptx.size()},
                 {"cubin_bytes", artifact.cubin.size()}}) +
           '\n' + artifact.log + artifact.ptx;
    body.append(reinterpret_cast<const char*>(artifact.cubin.data()), artifact.cubin.size());
  }
  return std::string(kMagic) + ContentHash::Of(body).Hex() + '\n' + body;
}

std::optional<BuildOutcome> ParseBuildOutcome(std::string_view bytes) {
  const auto magic = Take(bytes, kMagic.size());
  const auto hex = Take(bytes, kHexDigits + 1);
  if (magic != kMagic || !hex.has_value() || hex->back() != '\n' ||
      ContentHash::Of(bytes).Hex() != hex->substr(0, kHexDigits)) {
    return std::nullopt;
  }
  try {
    return ParseBody(bytes);
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

fs::path BuildCache::PathOf(const ContentHash& key) const {
  return folder_ / (key.Hex() + ".build");
}

std::optional<BuildOutcome> BuildCache::Find(const ContentHash& key) {
  const std::lock_guard lock(mutex_);
  if (const auto found = entries_.find(key); found != entries_.end()) {
    return AsCached(found->second);
  }
  if (folder_.empty()) {
    return std::nullopt;
  }
  const auto bytes = ReadFile(PathOf(key));
  if (!bytes.has_value()) {
    return std::nullopt;
  }
  auto outcome = ParseBuildOutcome(*bytes);
  if (!outcome.has_value()) {
    Log(LogLevel::kInfo, "build cache: damaged entry " + PathOf(key).string());
    return std::nullopt;
  }
  bytes_ += SizeOf(*outcome);
  entries_.emplace(key, *outcome);
  return AsCached(*std::move(outcome));
}

void BuildCache::Insert(const ContentHash& key, const BuildOutcome& outcome) {
  const std::lock_guard lock(mutex_);
  const size_t size = SizeOf(outcome);
  if (bytes_ + size > kMemoryBytes) {
    entries_.clear();
    bytes_ = 0;
  }
  if (entries_.insert_or_assign(key, outcome).second) {
    bytes_ += size;
  }
  if (folder_.empty()) {
    return;
  }
  if (const auto made = CreateDirectories(folder_); !made.has_value()) {
    Log(LogLevel::kInfo, "build cache: " + made.error().message());
    return;
  }
  if (const auto written = WriteFileAtomically(PathOf(key), FormatBuildOutcome(outcome));
      !written.has_value()) {
    Log(LogLevel::kInfo, "build cache: " + written.error().message());
  }
}

}  // namespace optiml
