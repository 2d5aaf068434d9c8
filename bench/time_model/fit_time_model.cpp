// Compares predictions with measured times, and fits the time model's free coefficients.
//
//   fit_time_model MODEL COUNTS.json TIMES.json [COUNTS.json TIMES.json ...]
//
// MODEL is a device description (h200, or a .toml file); COUNTS come from count_kernels, TIMES from
// bench/gpu/time_kernels.py, joined by kernel name. Two fits hold half of the material out: every
// second kernel of each task (what the search meets: new variants of known kinds), and every second
// task (kinds that the fit never saw). The report gives Kendall's tau within tasks, and the
// quantiles of the error of a ratio of two kernels of one task (what a KEEP decision uses) and of
// one time.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
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
    {"scattered_sectors_per_clock", &DeviceDescription::scattered_sectors_per_clock, 0.5, 4},
    {"shared_atomic_clocks", &DeviceDescription::shared_atomic_clocks, 1, 16},
    {"instructions_in_flight", &DeviceDescription::instructions_in_flight, 1, 6},
    {"dram_latency", &DeviceDescription::dram_latency, 450, 1500},
    {"barrier_latency", &DeviceDescription::barrier_latency, 10, 120},
    {"block_start_clocks", &DeviceDescription::block_start_clocks, 5, 300},
    {"l2_bytes_per_s", &DeviceDescription::l2_bytes_per_s, 3.5e12, 9e12},
    {"dram_achievable_bytes_per_s", &DeviceDescription::dram_achievable_bytes_per_s, 3.9e12,
     4.7e12},
    {"same_address_atomics_per_s", &DeviceDescription::same_address_atomics_per_s, 2e8, 4e9},
    {"atomic_lanes_per_s", &DeviceDescription::atomic_lanes_per_s, 2e11, 6e12},
    {"launch_overhead_s", &DeviceDescription::launch_overhead_s, 1e-6, 8e-6},
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

void Report(const char* title, const std::vector<const Group*>& groups,
            const DeviceDescription& device, bool by_row) {
  std::vector<double> ratios;
  std::vector<double> levels;
  double taus = 0;
  double tau_groups = 0;
  size_t rows = 0;
  for (const Group* group : groups) {
    const std::vector<double> errors = LogErrors(*group, device);
    double concordant = 0;
    double pairs = 0;
    for (size_t i = 0; i < errors.size(); ++i) {
      levels.push_back(std::exp(std::abs(errors[i])));
      for (size_t j = 0; j < i; ++j) {
        ratios.push_back(std::exp(std::abs(errors[i] - errors[j])));
        const double measured = std::log(group->rows[i].measured_s / group->rows[j].measured_s);
        const double predicted = measured + errors[i] - errors[j];
        concordant += measured * predicted > 0 ? 1 : -1;
        pairs += 1;
      }
    }
    rows += errors.size();
    const double tau = pairs > 0 ? concordant / pairs : 0;
    if (pairs > 0) {
      taus += tau;
      tau_groups += 1;
    }
    if (by_row) {
      fmt::print("{}: tau {:.2f}\n", group->task, tau);
      for (size_t i = 0; i < errors.size(); ++i) {
        fmt::print("  {:28} measured {:9.4f} ms, predicted {:9.4f} ms, x{:.2f}\n",
                   group->rows[i].kernel, group->rows[i].measured_s * 1e3,
                   Predicted(group->rows[i], device) * 1e3, std::exp(errors[i]));
      }
    }
  }
  fmt::print(
      "{:28} {} tasks, {} kernels: tau {:.3f}; error factor of a ratio: median {:.2f}, 90 % "
      "{:.2f}; of a time: median {:.2f}, 90 % {:.2f}\n",
      title, groups.size(), rows, tau_groups > 0 ? taus / tau_groups : 0, Quantile(ratios, 0.5),
      Quantile(ratios, 0.9), Quantile(levels, 0.5), Quantile(levels, 0.9));
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

Result<Group> ReadGroup(const fs::path& counts_file, const fs::path& times_file) {
  OPTIML_ASSIGN(const std::string counts_text, ReadFile(counts_file));
  OPTIML_ASSIGN(const std::string times_text, ReadFile(times_file));
  try {
    const Json counts = Json::parse(counts_text);
    const Json times = Json::parse(times_text);
    Group group;
    group.task = counts.at("task").get<std::string>() + " " + counts.at("sizes").dump();
    for (const Json& row : counts.at("rows")) {
      for (const Json& time : times.at("rows")) {
        if (time.at("kernel") == row.at("kernel")) {
          group.rows.push_back({row.at("kernel").get<std::string>(), WorkFromJson(row.at("work")),
                                time.at("median_s").get<double>()});
        }
      }
    }
    return group;
  } catch (const Json::exception& error) {
    return Error(ErrorCode::kParse, fmt::format("{}, {}: {}", counts_file.string(),
                                                times_file.string(), error.what()));
  }
}

Result<void> Run(const std::string& model, const std::vector<std::string>& files) {
  OPTIML_ASSIGN(const DeviceDescription device, LoadDeviceDescription(model));
  std::vector<Group> groups;
  for (size_t i = 0; i + 1 < files.size(); i += 2) {
    OPTIML_ASSIGN(Group group, ReadGroup(files[i], files[i + 1]));
    groups.push_back(std::move(group));
  }
  // Kernels of a task in measured order, so that both halves span slow and fast ones.
  std::vector<Group> even;
  std::vector<Group> odd;
  for (Group& group : groups) {
    std::sort(group.rows.begin(), group.rows.end(),
              [](const Row& a, const Row& b) { return a.measured_s < b.measured_s; });
    even.push_back({group.task, {}});
    odd.push_back({group.task, {}});
    for (size_t i = 0; i < group.rows.size(); ++i) {
      (i % 2 == 0 ? even : odd).back().rows.push_back(group.rows[i]);
    }
  }
  std::vector<const Group*> all;
  std::vector<const Group*> even_kernels;
  std::vector<const Group*> odd_kernels;
  std::vector<const Group*> even_tasks;
  std::vector<const Group*> odd_tasks;
  for (size_t i = 0; i < groups.size(); ++i) {
    all.push_back(&groups[i]);
    even_kernels.push_back(&even[i]);
    odd_kernels.push_back(&odd[i]);
    (i % 2 == 0 ? even_tasks : odd_tasks).push_back(&groups[i]);
  }
  Report("as shipped", all, device, true);
  fmt::print("\n");
  const DeviceDescription by_kernels = Fit(even_kernels, device);
  Report("fitted to half of the kernels", even_kernels, by_kernels, false);
  Report("  the kernels held out", odd_kernels, by_kernels, false);
  const DeviceDescription by_tasks = Fit(even_tasks, device);
  Report("fitted to half of the tasks", even_tasks, by_tasks, false);
  Report("  the tasks held out", odd_tasks, by_tasks, false);
  const DeviceDescription to_all = Fit(all, device);
  Report("fitted to all", all, to_all, false);
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
  if (argc < 4 || argc % 2 != 0) {
    fmt::print(stderr, "usage: fit_time_model MODEL COUNTS.json TIMES.json ...\n");
    return 2;
  }
  const auto done = optiml::Run(argv[1], std::vector<std::string>(argv + 2, argv + argc));
  if (!done.has_value()) {
    fmt::print(stderr, "fit_time_model: {}\n", done.error().message());
    return 3;
  }
  return 0;
}
