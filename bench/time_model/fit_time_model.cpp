// Compares predictions with measured times, and fits the time model's free coefficients.
//
//   fit_time_model MODEL VARIANTS.jsonl
//
// MODEL is a device description (h200, or a .toml file); VARIANTS comes from variants.py pack. Two
// kinds of fit hold half of the material out: every
// second kernel of each task (what the search meets: new variants of known kinds), and every second
// task, once the even and once the odd ones (kinds that the fit never saw). The report gives
// Kendall's tau within tasks, over pairs whose measured intervals do not overlap (the others have
// no order to find) and over all; and the quantiles of the error of a gain over the task's original
// (what a KEEP decision uses), of a ratio of any two kernels of one task, and of one time.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "device/device_description.h"
#include "device/time_model.h"
#include "work_json.h"

namespace optiml {
namespace {

using Json = nlohmann::json;

struct Row {
  std::string kernel;
  PlanWork work;
  double measured_s = 0;
  double low_s = 0;  // 95 % interval
  double high_s = 0;
  bool original = false;
};
struct Group {
  std::string task;
  std::vector<Row> rows;
};

struct Coefficient {
  const char* name;
  double DeviceDescription::* member;
  double low;
  double high;
};
// What is fitted, and between which bounds it stays plausible.
constexpr Coefficient kCoefficients[] = {
    {"overlap_exponent", &DeviceDescription::overlap_exponent, 1.5, 12},
    {"global_wavefront_clocks", &DeviceDescription::global_wavefront_clocks, 1, 4},
    {"shared_atomic_clocks", &DeviceDescription::shared_atomic_clocks, 1, 16},
    {"instructions_in_flight", &DeviceDescription::instructions_in_flight, 1, 6},
    {"dram_latency", &DeviceDescription::dram_latency, 450, 1500},
    {"barrier_latency", &DeviceDescription::barrier_latency, 10, 120},
    {"block_start_clocks", &DeviceDescription::block_start_clocks, 5, 300},
    {"warp_start_clocks", &DeviceDescription::warp_start_clocks, 1, 40},
    {"l2_bytes_per_s", &DeviceDescription::l2_bytes_per_s, 3.5e12, 9e12},
    {"dram_achievable_bytes_per_s", &DeviceDescription::dram_achievable_bytes_per_s, 3.9e12,
     4.7e12},
    {"next_launch_overhead_s", &DeviceDescription::next_launch_overhead_s, 5e-7, 5e-6}};

// Weight of the error of single times against that of ratios: the level matters less than the
// order.
constexpr double kLevelWeight = 0.2;

double Predicted(const Row& row, const DeviceDescription& device) {
  return PredictPlan(row.work, device).seconds;
}

// log(predicted / measured) of each row.
std::vector<double> LogErrors(const Group& group, const DeviceDescription& device) {
  std::vector<double> errors;
  for (const Row& row : group.rows) {
    errors.push_back(std::log(Predicted(row, device) / row.measured_s));
  }
  return errors;
}

double Loss(const std::vector<const Group*>& groups, const DeviceDescription& device) {
  double loss = 0;
  for (const Group* group : groups) {
    const std::vector<double> errors = LogErrors(*group, device);
    double pairs = 0;
    double of_pairs = 0;
    double of_levels = 0;
    for (size_t i = 0; i < errors.size(); ++i) {
      of_levels += std::abs(errors[i]) / static_cast<double>(errors.size());
      for (size_t j = 0; j < i; ++j) {
        of_pairs += std::abs(errors[i] - errors[j]);
        pairs += 1;
      }
    }
    loss += (pairs > 0 ? of_pairs / pairs : 0) + kLevelWeight * of_levels;
  }
  return loss;
}

double Quantile(std::vector<double> values, double q) {
  if (values.empty()) {
    return 0;
  }
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1,
                         static_cast<size_t>(q * static_cast<double>(values.size())))];
}

// Kendall's tau: pairs in the measured order less those in the other, over their number.
struct Tau {
  double sum = 0;
  double pairs = 0;
  void Take(double measured, double predicted) {
    sum += measured * predicted > 0 ? 1 : -1;
    pairs += 1;
  }
  double Value() const { return pairs > 0 ? sum / pairs : 0; }
};

// A held-out part with the coefficients of the fit that did not see it.
struct Part {
  const Group* group;
  DeviceDescription device;
};

struct Errors {
  std::vector<double> gains;
  std::vector<double> ratios;
  std::vector<double> times;
  std::vector<double> taus;         // by task, of significant pairs
  std::vector<double> taus_of_all;  // of all pairs
  size_t rows = 0;

  // Returns the tau of significant pairs.
  double Take(const Group& group, const DeviceDescription& device) {
    const std::vector<double> errors = LogErrors(group, device);
    Tau significant;
    Tau all;
    for (size_t i = 0; i < errors.size(); ++i) {
      times.push_back(std::exp(std::abs(errors[i])));
      for (size_t j = 0; j < i; ++j) {
        const Row& a = group.rows[i];
        const Row& b = group.rows[j];
        const double measured = std::log(a.measured_s / b.measured_s);
        const double predicted = measured + errors[i] - errors[j];
        const double error = std::exp(std::abs(errors[i] - errors[j]));
        ratios.push_back(error);
        if (a.original != b.original) {
          gains.push_back(error);
        }
        all.Take(measured, predicted);
        if (a.low_s > b.high_s || b.low_s > a.high_s) {
          significant.Take(measured, predicted);
        }
      }
    }
    rows += errors.size();
    if (significant.pairs > 0) {
      taus.push_back(significant.Value());
    }
    if (all.pairs > 0) {
      taus_of_all.push_back(all.Value());
    }
    return significant.Value();
  }
};

double Mean(const std::vector<double>& values) {
  return values.empty() ? 0
                        : std::accumulate(values.begin(), values.end(), 0.0) /
                              static_cast<double>(values.size());
}

void Report(const char* title, const std::vector<Part>& parts, bool by_row) {
  Errors errors;
  for (const Part& part : parts) {
    const double tau = errors.Take(*part.group, part.device);
    if (by_row) {
      fmt::print("{}: tau {:.2f}\n", part.group->task, tau);
      for (const Row& row : part.group->rows) {
        const double predicted = Predicted(row, part.device);
        fmt::print("  {:28} measured {:9.4f} ms, predicted {:9.4f} ms, x{:.2f}\n", row.kernel,
                   row.measured_s * 1e3, predicted * 1e3, predicted / row.measured_s);
      }
    }
  }
  fmt::print(
      "{:30} {} tasks, {} kernels: tau {:.2f} ({:.2f} over all pairs); error of a gain: median "
      "{:.2f}, 90 % {:.2f}; of a ratio: {:.2f}, {:.2f}; of a time: {:.2f}, {:.2f}\n",
      title, parts.size(), errors.rows, Mean(errors.taus), Mean(errors.taus_of_all),
      Quantile(errors.gains, 0.5), Quantile(errors.gains, 0.9), Quantile(errors.ratios, 0.5),
      Quantile(errors.ratios, 0.9), Quantile(errors.times, 0.5), Quantile(errors.times, 0.9));
}

std::vector<Part> With(const std::vector<const Group*>& groups, const DeviceDescription& device) {
  std::vector<Part> parts;
  for (const Group* group : groups) {
    parts.push_back({group, device});
  }
  return parts;
}

// Coordinate descent in the logarithms, with steps that shrink.
DeviceDescription Fit(const std::vector<const Group*>& groups, DeviceDescription device) {
  double best = Loss(groups, device);
  for (double step = 0.4; step > 0.01; step *= 0.7) {
    for (const Coefficient& coefficient : kCoefficients) {
      for (const double factor : {std::exp(step), std::exp(-step)}) {
        DeviceDescription changed = device;
        double& value = changed.*coefficient.member;
        value = std::clamp(value * factor, coefficient.low, coefficient.high);
        const double loss = Loss(groups, changed);
        if (loss < best) {
          best = loss;
          device = changed;
        }
      }
    }
  }
  return device;
}

// Lines of variants.py pack.
Result<std::vector<Group>> ReadGroups(const fs::path& file) {
  OPTIML_ASSIGN(const std::string text, ReadFile(file));
  std::vector<Group> groups;
  std::istringstream lines(text);
  size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    try {
      const Json json = Json::parse(line);
      const std::string task =
          json.at("task").get<std::string>() + " " + json.at("sizes").get<std::string>();
      if (groups.empty() || groups.back().task != task) {
        groups.push_back({task, {}});
      }
      Row row;
      row.kernel = json.at("chain").get<std::string>();
      row.original = row.kernel == "original";
      row.work = WorkFromJson(json.at("work"));
      row.measured_s = json.at("median_s").get<double>();
      row.low_s = json.at("low_s").get<double>();
      row.high_s = json.at("high_s").get<double>();
      groups.back().rows.push_back(std::move(row));
    } catch (const Json::exception& error) {
      return Error(ErrorCode::kParse,
                   fmt::format("{}:{}: {}", file.string(), number, error.what()));
    }
  }
  return groups;
}

// Kernels of a task in measured order, so that both halves span slow and fast ones; the original,
// which every gain needs, is in both.
std::vector<Group> Half(const std::vector<Group>& groups, size_t parity) {
  std::vector<Group> half;
  for (const Group& group : groups) {
    half.push_back({group.task, {}});
    for (size_t i = 0; i < group.rows.size(); ++i) {
      if (i % 2 == parity || group.rows[i].original) {
        half.back().rows.push_back(group.rows[i]);
      }
    }
  }
  return half;
}

std::vector<const Group*> Pointers(const std::vector<Group>& groups, size_t begin, size_t step) {
  std::vector<const Group*> pointers;
  for (size_t i = begin; i < groups.size(); i += step) {
    pointers.push_back(&groups[i]);
  }
  return pointers;
}

Result<void> Run(const std::string& model, const fs::path& file) {
  OPTIML_ASSIGN(const DeviceDescription device, LoadDeviceDescription(model));
  OPTIML_ASSIGN(std::vector<Group> groups, ReadGroups(file));
  for (Group& group : groups) {
    std::sort(group.rows.begin(), group.rows.end(),
              [](const Row& a, const Row& b) { return a.measured_s < b.measured_s; });
  }
  const std::vector<Group> even = Half(groups, 0);
  const std::vector<Group> odd = Half(groups, 1);
  const auto all = Pointers(groups, 0, 1);
  Report("as shipped", With(all, device), true);
  fmt::print("\n");
  const DeviceDescription by_kernels = Fit(Pointers(even, 0, 1), device);
  Report("fitted to half of the kernels", With(Pointers(even, 0, 1), by_kernels), false);
  Report("  the kernels held out", With(Pointers(odd, 0, 1), by_kernels), false);
  std::vector<Part> held_out;
  for (const size_t fold : {0, 1}) {
    const DeviceDescription by_tasks = Fit(Pointers(groups, fold, 2), device);
    for (const Group* group : Pointers(groups, 1 - fold, 2)) {
      held_out.push_back({group, by_tasks});
    }
  }
  Report("tasks held out, both halves", held_out, false);
  const DeviceDescription to_all = Fit(all, device);
  Report("fitted to all", With(all, to_all), false);
  fmt::print("\n{:32} {:>12} {:>12} {:>12}\n", "coefficient", "shipped", "half kernels",
             "fit to all");
  for (const Coefficient& coefficient : kCoefficients) {
    fmt::print("{:32} {:12.4g} {:12.4g} {:12.4g}\n", coefficient.name, device.*coefficient.member,
               by_kernels.*coefficient.member, to_all.*coefficient.member);
  }
  return {};
}

}  // namespace
}  // namespace optiml

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: fit_time_model MODEL VARIANTS.jsonl\n");
    return 2;
  }
  const auto done = optiml::Run(argv[1], argv[2]);
  if (!done.has_value()) {
    fmt::print(stderr, "fit_time_model: {}\n", done.error().message());
    return 3;
  }
  return 0;
}
