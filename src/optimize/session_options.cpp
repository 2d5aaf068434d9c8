// SessionOptions to and from the text that a run's store keeps.
#include <fmt/format.h>

#include <charconv>

#include "optimize/session.h"

namespace optiml {
namespace {

constexpr char kYes[] = "true";
constexpr char kNo[] = "false";

std::string FormatBool(bool value) {
  return value ? kYes : kNo;
}

Error BadValue(const std::string& key, const std::string& value, const char* allowed) {
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("option {}: bad value \"{}\" (allowed: {})", key, value, allowed));
}

// Reads the value of `key` into `field`; leaves it alone when the key is absent.
class Reader {
 public:
  explicit Reader(const std::map<std::string, std::string>& values) : values_(values) {}

  template <typename T>
  Result<void> Number(const std::string& key, T& field, T least) const {
    const auto found = values_.find(key);
    if (found == values_.end()) {
      return {};
    }
    const std::string& text = found->second;
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !(value >= least)) {
      return BadValue(key, text, fmt::format("numbers from {}", least).c_str());
    }
    field = value;
    return {};
  }

  Result<void> Bool(const std::string& key, bool& field) const {
    const auto found = values_.find(key);
    if (found == values_.end()) {
      return {};
    }
    if (found->second != kYes && found->second != kNo) {
      return BadValue(key, found->second, "true, false");
    }
    field = found->second == kYes;
    return {};
  }

 private:
  const std::map<std::string, std::string>& values_;
};

}  // namespace

std::map<std::string, std::string> FormatSessionOptions(const SessionOptions& options) {
  std::map<std::string, std::string> values = {
      {"search", options.search.strategy},
      {"seed", std::to_string(options.search.seed)},
      {"exploration", fmt::format("{}", options.search.exploration)},
      {"backup-max-share", fmt::format("{}", options.search.backup_max_share)},
      {"widening-factor", fmt::format("{}", options.search.widening_factor)},
      {"widening-exponent", fmt::format("{}", options.search.widening_exponent)},
      {"virtual-loss", fmt::format("{}", options.search.virtual_loss)},
      {"prior-noise", fmt::format("{}", options.search.prior_noise)},
      {"max-depth", std::to_string(options.search.max_depth)},
      {"candidates", std::to_string(options.budget.candidates)},
      {"in-flight", std::to_string(options.in_flight)},
      {"check-seeds", std::to_string(options.verifier.seeds)},
      {"first-check-seed", std::to_string(options.verifier.first_seed)},
      {"step-limit", std::to_string(options.verifier.step_limit_per_case)},
      {"proxies", FormatBool(options.proxies)},
      {"judge", FormatBool(options.judge)},
      {"model-share", fmt::format("{}", options.model_share)}};
  if (options.budget.wall_time) {
    values["time"] = std::to_string(options.budget.wall_time->count());
  }
  return values;
}

Result<SessionOptions> ParseSessionOptions(const std::map<std::string, std::string>& values) {
  SessionOptions options;
  const Reader reader(values);
  if (const auto found = values.find("search"); found != values.end()) {
    options.search.strategy = found->second;  // MakeSearcher knows the strategies
  }
  OPTIML_TRY(reader.Number("seed", options.search.seed, uint64_t{0}));
  OPTIML_TRY(reader.Number("exploration", options.search.exploration, 0.0));
  OPTIML_TRY(reader.Number("backup-max-share", options.search.backup_max_share, 0.0));
  OPTIML_TRY(reader.Number("widening-factor", options.search.widening_factor, 0.0));
  OPTIML_TRY(reader.Number("widening-exponent", options.search.widening_exponent, 0.0));
  OPTIML_TRY(reader.Number("virtual-loss", options.search.virtual_loss, 0.0));
  OPTIML_TRY(reader.Number("prior-noise", options.search.prior_noise, 0.0));
  OPTIML_TRY(reader.Number("max-depth", options.search.max_depth, 1));
  OPTIML_TRY(reader.Number("candidates", options.budget.candidates, 0));
  OPTIML_TRY(reader.Number("in-flight", options.in_flight, 1));
  if (options.in_flight > kMostInFlight) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("option in-flight: {} (at most {} are allowed)", options.in_flight,
                             kMostInFlight));
  }
  OPTIML_TRY(reader.Number("check-seeds", options.verifier.seeds, 1));
  OPTIML_TRY(reader.Number("first-check-seed", options.verifier.first_seed, uint64_t{0}));
  OPTIML_TRY(reader.Number("step-limit", options.verifier.step_limit_per_case, uint64_t{1}));
  OPTIML_TRY(reader.Bool("proxies", options.proxies));
  OPTIML_TRY(reader.Bool("judge", options.judge));
  OPTIML_TRY(reader.Number("model-share", options.model_share, 0.0));
  if (values.contains("time")) {
    int64_t seconds = 0;
    OPTIML_TRY(reader.Number("time", seconds, int64_t{1}));
    if (seconds > kMostSeconds) {
      return Error(
          ErrorCode::kInvalidArgument,
          fmt::format("option time: {} s (at most {} are allowed)", seconds, kMostSeconds));
    }
    options.budget.wall_time = std::chrono::seconds(seconds);
  }
  return options;
}

}  // namespace optiml
