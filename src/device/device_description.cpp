#include "device/device_description.h"

#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 1
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <type_traits>

#include <toml++/toml.h>

#include "base/file_system.h"

namespace optiml {
namespace {

// Reads one table; remembers which keys were asked for.
class TableReader {
 public:
  TableReader(const toml::table& table, std::string_view file, std::string name)
      : table_(table), file_(file), name_(std::move(name)) {}

  template <typename T>
  TableReader& Number(const char* key, T& target) {
    known_.insert(key);
    const toml::node* node = table_.get(key);
    if (node == nullptr) {
      Fail(table_.source().begin.line, fmt::format("there is no {}{}", name_, key));
      return *this;
    }
    const auto value = node->value<double>();
    if (!value.has_value() || !(*value > 0)) {
      Fail(node->source().begin.line, fmt::format("{}{} must be a positive number", name_, key));
      return *this;
    }
    // Whole numbers that a double holds exactly, and that fit.
    constexpr double kMost = 9007199254740992.0;  // 2^53
    const bool fits = std::is_floating_point_v<T>
                          ? std::isfinite(*value)
                          : *value == std::floor(*value) && *value <= kMost &&
                                *value <= static_cast<double>(std::numeric_limits<T>::max());
    if (!fits) {
      Fail(node->source().begin.line,
           fmt::format("{}{} is {}: {}", name_, key, *value,
                       std::is_floating_point_v<T> ? "it must be finite"
                                                   : "it must be a whole number that fits"));
      return *this;
    }
    target = static_cast<T>(*value);
    return *this;
  }

  // A number that is at least 1.
  TableReader& Factor(const char* key, double& target) {
    Number(key, target);
    const toml::node* node = table_.get(key);
    if (node != nullptr && target < 1) {
      Fail(node->source().begin.line, fmt::format("{}{} must be at least 1", name_, key));
    }
    return *this;
  }

  TableReader& String(const char* key, std::string& target) {
    known_.insert(key);
    const toml::node* node = table_.get(key);
    const auto value = node == nullptr ? std::nullopt : node->value<std::string>();
    if (!value.has_value()) {
      Fail(table_.source().begin.line, fmt::format("there is no string {}{}", name_, key));
      return *this;
    }
    target = *value;
    return *this;
  }

  void Known(const char* key) { known_.insert(key); }

  Result<void> Finish() {
    for (const auto& [key, node] : table_) {
      if (known_.count(std::string(key.str())) == 0) {
        Fail(key.source().begin.line,
             fmt::format("unknown key {}{} (known: {})", name_, key.str(), fmt::join(known_, " ")));
      }
    }
    if (!problem_.empty()) {
      return Error(ErrorCode::kParse, problem_);
    }
    return {};
  }

 private:
  void Fail(unsigned line, std::string message) {
    if (problem_.empty()) {
      problem_ = fmt::format("{}:{}: {}", file_, line, message);
    }
  }

  const toml::table& table_;
  std::string_view file_;
  std::string name_;  // "memory." or ""
  std::set<std::string> known_;
  std::string problem_;
};

Result<void> ReadTable(const toml::table& root, std::string_view file, const char* name,
                       const std::function<void(TableReader&)>& read) {
  const toml::node* node = root.get(name);
  if (node == nullptr || !node->is_table()) {
    return Error(ErrorCode::kParse, fmt::format("{}: there is no table [{}]", file, name));
  }
  TableReader reader(*node->as_table(), file, std::string(name) + ".");
  read(reader);
  return reader.Finish();
}

Result<DeviceDescription> Read(const toml::table& root, std::string_view file) {
  DeviceDescription d;
  TableReader top(root, file, "");
  top.String("name", d.name).String("architecture", d.architecture);
  for (const char* table : {"multiprocessor", "per_clock", "memory", "atomics", "latency_clocks",
                            "overhead", "model"}) {
    top.Known(table);
  }
  OPTIML_TRY(top.Finish());
  OPTIML_TRY(ReadTable(root, file, "multiprocessor", [&](TableReader& r) {
    r.Number("count", d.multiprocessors)
        .Number("clock_hz", d.clock_hz)
        .Number("warps", d.warps_per_multiprocessor)
        .Number("blocks", d.blocks_per_multiprocessor)
        .Number("registers", d.registers_per_multiprocessor)
        .Number("register_allocation_unit", d.register_allocation_unit)
        .Number("shared_bytes", d.shared_bytes_per_multiprocessor)
        .Number("shared_bytes_per_block_limit", d.shared_bytes_per_block_limit)
        .Number("shared_bytes_reserved", d.shared_bytes_reserved)
        .Number("shared_allocation_unit", d.shared_allocation_unit)
        .Number("l1_bytes", d.l1_bytes);
  }));
  OPTIML_TRY(ReadTable(root, file, "per_clock", [&](TableReader& r) {
    r.Number("issued_warps", d.issued_warps_per_clock)
        .Number("fp32_lanes", d.fp32_lanes_per_clock)
        .Number("fp64_lanes", d.fp64_lanes_per_clock)
        .Number("fp16_lanes", d.fp16_lanes_per_clock)
        .Number("integer_lanes", d.integer_lanes_per_clock)
        .Number("special_lanes", d.special_lanes_per_clock)
        .Number("conversion_lanes", d.conversion_lanes_per_clock)
        .Number("shuffle_lanes", d.shuffle_lanes_per_clock)
        .Number("l1_wavefronts", d.l1_wavefronts_per_clock)
        .Number("l1_fill_bytes", d.l1_fill_bytes_per_clock);
  }));
  OPTIML_TRY(ReadTable(root, file, "memory", [&](TableReader& r) {
    r.Number("l2_bytes", d.l2_bytes)
        .Number("l2_bytes_per_s", d.l2_bytes_per_s)
        .Number("l2_store_lines_per_s", d.l2_store_lines_per_s)
        .Number("dram_bytes_per_s", d.dram_bytes_per_s)
        .Number("dram_achievable_bytes_per_s", d.dram_achievable_bytes_per_s);
  }));
  OPTIML_TRY(ReadTable(root, file, "atomics", [&](TableReader& r) {
    r.Number("l2_slices", d.l2_slices)
        .Number("slice_rounds_per_s", d.slice_atomic_rounds_per_s)
        .Number("sector_float_rounds_per_s", d.sector_float_rounds_per_s);
  }));
  OPTIML_TRY(ReadTable(root, file, "latency_clocks", [&](TableReader& r) {
    r.Number("arithmetic", d.arithmetic_latency)
        .Number("shared", d.shared_latency)
        .Number("l1", d.l1_latency)
        .Number("l2", d.l2_latency)
        .Number("dram", d.dram_latency)
        .Number("barrier", d.barrier_latency)
        .Number("special", d.special_latency)
        .Number("block_start", d.block_start_clocks)
        .Number("warp_start", d.warp_start_clocks);
  }));
  OPTIML_TRY(ReadTable(root, file, "overhead", [&](TableReader& r) {
    r.Number("launch_s", d.launch_overhead_s).Number("next_launch_s", d.next_launch_overhead_s);
  }));
  OPTIML_TRY(ReadTable(root, file, "model", [&](TableReader& r) {
    r.Number("overlap_exponent", d.overlap_exponent)
        .Number("global_wavefront_clocks", d.global_wavefront_clocks)
        .Number("shared_atomic_clocks", d.shared_atomic_clocks)
        .Number("instructions_in_flight", d.instructions_in_flight)
        .Factor("prediction_error_factor", d.prediction_error_factor);
  }));
  return d;
}

// "RTX 4090" -> "rtx4090".
std::string Key(std::string_view name) {
  std::string key;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      key += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return key;
}

std::string_view Stem(std::string_view file_name) {
  return file_name.substr(0, file_name.rfind('.'));
}

}  // namespace

Result<DeviceDescription> ParseDeviceDescription(std::string_view text, std::string_view file) {
  try {
    const toml::table root = toml::parse(text);
    return Read(root, file);
  } catch (const toml::parse_error& error) {
    return Error(ErrorCode::kParse,
                 fmt::format("{}:{}: {}", file, error.source().begin.line, error.description()));
  }
}

Result<DeviceDescription> LoadDeviceDescription(const std::string& name_or_path) {
  for (const EmbeddedText& file : EmbeddedDeviceDescriptions()) {
    if (Key(Stem(file.name)) == Key(name_or_path)) {
      return ParseDeviceDescription(file.text, file.name);
    }
  }
  if (name_or_path.find(".toml") == std::string::npos) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("unknown device model \"{}\" (known: {}, or the path of a .toml file)",
                             name_or_path, fmt::join(DeviceDescriptionNames(), " ")));
  }
  OPTIML_ASSIGN(const std::string text, ReadFile(name_or_path));
  return ParseDeviceDescription(text, name_or_path);
}

std::vector<std::string> DeviceDescriptionNames() {
  std::vector<std::string> names;
  for (const EmbeddedText& file : EmbeddedDeviceDescriptions()) {
    names.emplace_back(Stem(file.name));
  }
  return names;
}

}  // namespace optiml
