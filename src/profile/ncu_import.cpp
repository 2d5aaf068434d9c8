#include "profile/ncu_import.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

namespace optiml {
namespace {

// --- the text -----------------------------------------------------------------------------------

// Takes one record of the table off the front of `text`: fields in quotes, "" for a quote in one.
// Nothing when the line does not begin with a quote.
std::optional<std::vector<std::string>> TakeRecord(std::string_view& text, int& line) {
  std::vector<std::string> fields;
  while (text.starts_with('"')) {
    std::string field;
    size_t at = 1;
    for (; at < text.size(); ++at) {
      if (text[at] == '"' && text.substr(at + 1).starts_with('"')) {
        ++at;
      } else if (text[at] == '"') {
        break;
      }
      line += text[at] == '\n';
      field += text[at];
    }
    const bool is_closed = at < text.size();
    text.remove_prefix(std::min(text.size(), at + 1));
    if (!is_closed) {
      break;  // the file ends in it
    }
    fields.push_back(std::move(field));
    if (!text.starts_with(',')) {
      break;
    }
    text.remove_prefix(1);
  }
  return fields.empty() ? std::nullopt : std::optional(std::move(fields));
}

void SkipLine(std::string_view& text, int& line) {
  const size_t end = text.find('\n');
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  ++line;
}

// "1,234.5": ncu groups digits by commas where the locale does.
std::optional<double> ParseNumber(std::string text) {
  std::erase(text, ',');
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

// "(256, 1, 1)"
std::optional<Dim3> ParseDim(const std::string& text) {
  Dim3 dim;
  const char* at = text.data();
  const char* end = at + text.size();
  for (uint32_t* part : {&dim.x, &dim.y, &dim.z}) {
    while (at != end && (*at == '(' || *at == ',' || *at == ' ')) {
      ++at;
    }
    const auto [stop, error] = std::from_chars(at, end, *part);
    if (error != std::errc()) {
      return std::nullopt;
    }
    at = stop;
  }
  return dim;
}

struct Unit {
  const char* name;
  const char* base;
  double scale;
};
// As Nsight Compute 2022 to 2025 print them; the other units are base units already.
constexpr Unit kUnits[] = {
    {"Kbyte", "byte", 1e3},       {"Mbyte", "byte", 1e6},       {"Gbyte", "byte", 1e9},
    {"Tbyte", "byte", 1e12},      {"%", "ratio", 0.01},         {"ns", "second", 1e-9},
    {"nsecond", "second", 1e-9},  {"us", "second", 1e-6},       {"usecond", "second", 1e-6},
    {"ms", "second", 1e-3},       {"msecond", "second", 1e-3},  {"s", "second", 1},
    {"byte/block", "byte", 1},    {"Kbyte/block", "byte", 1e3}, {"register/thread", "register", 1},
    {"Kinst", "inst", 1e3},       {"Minst", "inst", 1e6},       {"Ginst", "inst", 1e9},
    {"Ksector", "sector", 1e3},   {"Msector", "sector", 1e6},   {"Gsector", "sector", 1e9},
    {"Krequest", "request", 1e3}, {"Mrequest", "request", 1e6},
};

Metric InBaseUnits(double value, const std::string& unit) {
  for (const Unit& known : kUnits) {
    if (unit == known.name) {
      return {value * known.scale, known.base};
    }
  }
  return {value, unit};
}

class Table {
 public:
  Table(std::vector<std::string> columns, const std::string& file)
      : columns_(std::move(columns)), file_(file) {}

  void SetUnits(std::vector<std::string> units) { units_ = std::move(units); }

  Result<NcuLaunch> Launch(const std::vector<std::string>& fields, int line) const {
    if (fields.size() != columns_.size()) {
      return Error(ErrorCode::kParse, fmt::format("{}:{}: {} fields where the table has {} columns",
                                                  file_, line, fields.size(), columns_.size()));
    }
    NcuLaunch launch;
    launch.line = line;
    for (size_t i = 0; i < fields.size(); ++i) {
      if (!Take(i, fields[i], launch)) {
        return Error(ErrorCode::kParse, fmt::format("{}:{}: \"{}\" is no value of {}", file_, line,
                                                    fields[i], columns_[i]));
      }
    }
    return launch;
  }

 private:
  bool Take(size_t column, const std::string& text, NcuLaunch& launch) const {
    const std::string& name = columns_[column];
    if (name == "Kernel Name") {
      launch.kernel = text;
    } else if (name == "Grid Size" || name == "Block Size") {
      const auto dim = ParseDim(text);
      (name == "Grid Size" ? launch.grid : launch.block) = dim.value_or(Dim3());
      return dim.has_value();
    } else if (name.find("__") != std::string::npos && !text.empty() && text != "n/a") {
      const auto value = ParseNumber(text);
      if (!value && units_[column].empty()) {
        return true;  // a metric that is a word: launch__cache_config and the like
      }
      if (value) {
        launch.metrics[name] = InBaseUnits(*value, units_[column]);
      }
      return value.has_value();
    }
    return true;
  }

  std::vector<std::string> columns_;
  std::vector<std::string> units_;
  std::string file_;
};

// --- which launches -----------------------------------------------------------------------------

// "void ns::softmax<(int)4>(const float *)" and "ns::softmax<4>" -> "softmax"
std::string BaseName(std::string_view name) {
  std::string flat;
  int depth = 0;
  for (const char c : name) {
    depth += c == '<' || c == '(';
    if (depth == 0) {
      flat += c;
    }
    depth -= c == '>' || c == ')';
  }
  const size_t end = flat.find_last_not_of(' ');
  flat.resize(end == std::string::npos ? 0 : end + 1);
  return flat.substr(flat.find_last_of(" :") + 1);
}

std::string Shape(const Dim3& grid, const Dim3& block) {
  return fmt::format("grid {}x{}x{}, block {}x{}x{}", grid.x, grid.y, grid.z, block.x, block.y,
                     block.z);
}

using Launches = std::vector<const NcuLaunch*>;

Error NotThere(const Launches& same_kernels, const std::vector<NcuLaunch>& all,
               const std::vector<const KernelLaunch*>& plan, const std::string& file) {
  const KernelLaunch& first = *plan.front();
  std::string there;
  if (same_kernels.empty()) {
    std::set<std::string> names;
    for (const NcuLaunch& launch : all) {
      names.insert(BaseName(launch.kernel));
    }
    there = fmt::format("it has launches of {}", fmt::join(names, ", "));
  } else {
    const NcuLaunch& last = *same_kernels.back();
    there = fmt::format("line {}: {} with {}", last.line, BaseName(last.kernel),
                        Shape(last.grid, last.block));
  }
  return Error(
      ErrorCode::kInvalidArgument,
      fmt::format("{}: the {} of the first timed shape {} not there ({} with {}); {}", file,
                  plan.size() == 1 ? "launch" : fmt::format("{} launches", plan.size()),
                  plan.size() == 1 ? "is" : "are", first.kernel, Shape(first.grid, first.block),
                  there));
}

Result<Launches> LaunchesOf(const LaunchPlan& plan, const std::vector<NcuLaunch>& all,
                            const std::string& file) {
  std::vector<const KernelLaunch*> wanted;
  std::set<std::string> names;
  for (const LaunchStep& step : plan.steps) {
    if (const auto* launch = std::get_if<KernelLaunch>(&step)) {
      wanted.push_back(launch);
      names.insert(BaseName(launch->kernel));
    }
  }
  if (wanted.empty()) {
    return Error(ErrorCode::kInvalidArgument, "the plan of the first timed shape has no launch");
  }
  Launches found;
  for (const NcuLaunch& launch : all) {
    if (names.contains(BaseName(launch.kernel))) {
      found.push_back(&launch);
    }
  }
  const auto matches = [](const NcuLaunch* launch, const KernelLaunch* step) {
    return BaseName(launch->kernel) == BaseName(step->kernel) && launch->grid == step->grid &&
           launch->block == step->block;
  };
  const auto last =
      std::find_end(found.begin(), found.end(), wanted.begin(), wanted.end(), matches);
  if (last == found.end()) {
    return NotThere(found, all, wanted, file);
  }
  return Launches(last, last + static_cast<std::ptrdiff_t>(wanted.size()));
}

// --- what belongs to one launch -----------------------------------------------------------------

// Of the longest launch.
struct OneOf {
  const char* id;
  const char* unit;
  std::vector<const char*> parts;  // added up
};
const std::vector<OneOf>& Singles() {
  static const std::vector<OneOf> singles = {
      {metric::kRegisters, "register", {metric::kRegisters}},
      {metric::kSharedBytesPerBlock,
       "byte",
       {"launch__shared_mem_per_block_static", "launch__shared_mem_per_block_dynamic"}},
      {metric::kBlocks, "block", {metric::kBlocks}},
      {metric::kWaves, "ratio", {metric::kWaves}},
      {metric::kTheoreticalOccupancy, "ratio", {"sm__maximum_warps_per_active_cycle_pct"}},
  };
  return singles;
}

// Nothing when a part is missing.
std::optional<double> ValueOf(const NcuLaunch& launch, const OneOf& single) {
  double sum = 0;
  for (const char* part : single.parts) {
    const auto found = launch.metrics.find(part);
    if (found == launch.metrics.end()) {
      return std::nullopt;
    }
    sum += found->second.value;
  }
  return sum;
}

}  // namespace

Result<std::vector<NcuLaunch>> ParseNcuCsv(std::string_view text, const std::string& file) {
  std::optional<Table> table;
  bool has_units = false;
  std::vector<NcuLaunch> launches;
  for (int line = 1; !text.empty(); SkipLine(text, line)) {
    const int first_line = line;
    auto fields = TakeRecord(text, line);
    if (!fields) {
      continue;  // what the program or ncu printed
    }
    const bool is_header =
        std::find(fields->begin(), fields->end(), "Kernel Name") != fields->end();
    if (is_header && std::find(fields->begin(), fields->end(), "Metric Name") != fields->end()) {
      return Error(ErrorCode::kParse,
                   fmt::format("{}:{}: this is another page of ncu; export it with --page raw",
                               file, first_line));
    }
    if (is_header) {
      table.emplace(*std::move(fields), file);
      has_units = false;
    } else if (table && !has_units) {
      if (!fields->front().empty()) {
        return Error(ErrorCode::kParse,
                     fmt::format("{}:{}: the line of the units is missing", file, first_line));
      }
      table->SetUnits(*std::move(fields));
      has_units = true;
    } else if (table) {
      OPTIML_ASSIGN(NcuLaunch launch, table->Launch(*fields, first_line));
      launches.push_back(std::move(launch));
    }
  }
  if (launches.empty()) {
    return Error(ErrorCode::kParse,
                 fmt::format("{}: no launches of `ncu --csv --page raw` in it", file));
  }
  return launches;
}

Result<NcuProfile> ProfileFromNcu(const std::vector<NcuLaunch>& launches, const LaunchPlan& plan,
                                  const std::string& file) {
  OPTIML_ASSIGN(const Launches counted, LaunchesOf(plan, launches, file));
  std::vector<const LaunchCounters*> counters;
  for (const NcuLaunch* launch : counted) {
    counters.push_back(&launch->metrics);
  }
  CombinedCounters combined = CombineLaunches(counters);
  NcuProfile result;
  result.profile = std::move(combined.profile);
  result.profile.source = ProfileSource::kNcu;
  result.seconds = combined.seconds;
  if (combined.longest) {
    for (const OneOf& single : Singles()) {
      if (const auto value = ValueOf(*counted[*combined.longest], single)) {
        result.profile.metrics[single.id] = {*value, single.unit};
      }
    }
  }
  return result;
}

std::string NcuMetricList() {
  std::vector<std::string> names = AllLaunchCounters();
  for (const OneOf& single : Singles()) {
    names.insert(names.end(), single.parts.begin(), single.parts.end());
  }
  return fmt::format("{}", fmt::join(names, ","));
}

}  // namespace optiml
