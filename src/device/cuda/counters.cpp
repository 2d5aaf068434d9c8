#include "device/cuda/counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "device/cuda/plan_job.h"
#include "device/launch_metrics.h"

namespace optiml::cuda {
namespace {

// What memory holds that no candidate has written; as execute.cpp's.
constexpr uint8_t kCleared = 0xA5;
// Ranges that the profiler is asked to keep; plans with more launches are counted as one.
constexpr size_t kMostRanges = 1024;
// Far more than the metrics take: a profiler that never says that it is done must not go on.
constexpr int kMostPasses = 100;
// One plan is counted in some tenths of a second.
constexpr std::chrono::seconds kMostBusy{5};
constexpr std::chrono::milliseconds kBusyPause{20};
constexpr uint64_t kTrialBytes = uint64_t{1} << 20;
constexpr std::chrono::seconds kTrialLimit{10};

// The profiler is let go at the end; not after a fault or a hang, where it would wait for ever.
class Enabled {
 public:
  Enabled(const CuptiApi& api, const Gpu& gpu, void* profiler)
      : api_(api), gpu_(gpu), profiler_(profiler) {}
  ~Enabled() {
    CuptiProfiler end;
    end.profiler = profiler_;
    if (!gpu_.is_lost()) {
      api_.disable(&end);
    }
  }
  Enabled(const Enabled&) = delete;
  Enabled& operator=(const Enabled&) = delete;

 private:
  const CuptiApi& api_;
  const Gpu& gpu_;
  void* profiler_;
};

}  // namespace

RangeProfiler::~RangeProfiler() {
  if (host_ != nullptr) {
    CuptiHostEnd end;
    end.host = host_;
    api_.host_end(&end);
  }
}

Error RangeProfiler::Failed(const char* what, int code) {
  const bool is_permission =
      code == CuptiApi::kNotPermitted || code == CuptiApi::kVirtualNotPermitted;
  facts_.is_permission |= is_permission;
  return Error(ErrorCode::kUnavailable, is_permission
                                            ? api_.Describe(code)
                                            : fmt::format("{}: {}", what, api_.Describe(code)));
}

std::vector<const char*> RangeProfiler::Names() const {
  std::vector<const char*> names;
  for (const std::string& name : facts_.metrics) {
    names.push_back(name.c_str());
  }
  return names;
}

CounterFacts RangeProfiler::Open(int ordinal) {
  facts_.library = api_.library;
  Result<void> opened = ChooseMetrics(ordinal);
  if (opened) {
    opened = MakeConfig();
  }
  if (opened) {
    opened = TryOut();
  }
  if (!opened) {
    facts_.problem = opened.error().message();
  }
  return facts_;
}

Result<void*> RangeProfiler::MakeHost() const {
  CuptiHostInitialize make;
  make.chip = chip_.c_str();
  make.availability = availability_.empty() ? nullptr : availability_.data();
  if (const int code = api_.host_initialize(&make); code != CuptiApi::kSuccess) {
    return Error(ErrorCode::kUnavailable,
                 fmt::format("CUPTI does not know the chip {}: {}", chip_, api_.Describe(code)));
  }
  return make.host;
}

bool RangeProfiler::HasMetrics(std::vector<const char*> names) const {
  const Result<void*> host = MakeHost();
  if (!host) {
    return false;
  }
  CuptiHostAddMetrics add;
  add.host = *host;
  add.names = names.data();
  add.count = names.size();
  const bool has = api_.host_add_metrics(&add) == CuptiApi::kSuccess;
  CuptiHostEnd end;
  end.host = *host;
  api_.host_end(&end);
  return has;
}

Result<void> RangeProfiler::ChooseMetrics(int ordinal) {
  CuptiInitialize initialize;
  if (const int code = api_.initialize(&initialize); code != CuptiApi::kSuccess) {
    return Failed("CUPTI does not start", code);
  }
  CuptiChipName chip;
  chip.device = static_cast<size_t>(ordinal);
  if (const int code = api_.chip_name(&chip); code != CuptiApi::kSuccess) {
    return Failed("CUPTI does not know this GPU", code);
  }
  chip_ = chip.chip;
  CuptiAvailability availability;
  availability.context = gpu_.context();
  int code = api_.availability(&availability);
  if (code == CuptiApi::kSuccess) {
    availability_.resize(availability.image_bytes);
    availability.image = availability_.data();
    code = api_.availability(&availability);
  }
  if (code != CuptiApi::kSuccess) {
    return Failed("CUPTI does not tell which counters there are", code);
  }
  OPTIML_ASSIGN(host_, MakeHost());
  facts_.metrics = CheapLaunchCounters();
  if (!HasMetrics(Names())) {
    std::vector<std::string> all;
    all.swap(facts_.metrics);
    for (std::string& name : all) {
      (HasMetrics({name.c_str()}) ? facts_.metrics : facts_.unknown).push_back(std::move(name));
    }
  }
  if (facts_.metrics.empty()) {
    return Error(ErrorCode::kUnavailable, fmt::format("CUPTI has no counters for {}", chip_));
  }
  return {};
}

Result<void> RangeProfiler::MakeConfig() {
  std::vector<const char*> names = Names();
  CuptiHostAddMetrics add;
  add.host = host_;
  add.names = names.data();
  add.count = names.size();
  CuptiHostConfigSize size;
  size.host = host_;
  int code = api_.host_add_metrics(&add);
  if (code == CuptiApi::kSuccess) {
    code = api_.host_config_size(&size);
  }
  CuptiHostConfig config;
  if (code == CuptiApi::kSuccess) {
    config_.resize(size.bytes);
    config.host = host_;
    config.bytes = config_.size();
    config.image = config_.data();
    code = api_.host_config(&config);
  }
  CuptiHostPasses passes;
  if (code == CuptiApi::kSuccess) {
    passes.bytes = config_.size();
    passes.image = config_.data();
    code = api_.host_passes(&passes);
  }
  if (code != CuptiApi::kSuccess) {
    return Failed("CUPTI does not take the metrics", code);
  }
  facts_.passes = static_cast<int>(passes.passes);
  return {};
}

Result<void> RangeProfiler::TryOut() {
  const auto prepare = [] { return true; };
  const auto work = [this] {
    return gpu_.EnqueueFlush(kTrialBytes) == DriverApi::kSuccess &&
           gpu_.Wait(SteadyClock::now() + kTrialLimit) == Waited::kDone;
  };
  OPTIML_ASSIGN(const std::optional<Counted> counted, Count(1, prepare, work));
  if (!counted) {
    return Error(ErrorCode::kUnavailable, "a kernel of our own does not run under CUPTI");
  }
  const std::vector<double>& values = counted->ranges.front();
  if (std::none_of(values.begin(), values.end(),
                   [](double value) { return std::isfinite(value) && value > 0; })) {
    return Error(ErrorCode::kUnavailable, "all counters of a kernel of our own are 0");
  }
  return {};
}

int RangeProfiler::TakeHold(CuptiEnable& enable) const {
  const auto begin = SteadyClock::now();
  while (true) {
    const int code = api_.enable(&enable);
    if (code != CuptiApi::kBusy || SteadyClock::now() - begin > kMostBusy) {
      return code;
    }
    std::this_thread::sleep_for(kBusyPause);
  }
}

Result<std::optional<RangeProfiler::Counted>> RangeProfiler::Count(size_t launches,
                                                                   const Work& prepare,
                                                                   const Work& work) {
  if (counts_launches_apart_ && launches <= kMostRanges) {
    auto apart = CountRanges(launches, CuptiSetConfig::kAutoRange, prepare, work);
    // A fault of the work, or no permission, is no better the other way.
    if (apart || facts_.is_permission) {
      return apart;
    }
    counts_launches_apart_ = false;
  }
  return CountRanges(1, CuptiSetConfig::kUserRange, prepare, work);
}

Result<std::optional<RangeProfiler::Counted>> RangeProfiler::CountRanges(size_t launches,
                                                                         int range_kind,
                                                                         const Work& prepare,
                                                                         const Work& work) {
  std::vector<const char*> names = Names();
  CuptiEnable enable;
  enable.context = gpu_.context();
  if (const int code = TakeHold(enable); code != CuptiApi::kSuccess) {
    return Failed("CUPTI does not take hold of the counters", code);
  }
  const Enabled enabled(api_, gpu_, enable.profiler);
  CuptiDataSize size;
  size.profiler = enable.profiler;
  size.names = names.data();
  size.count = names.size();
  size.most_ranges = launches;
  size.most_nodes = static_cast<uint32_t>(launches);
  int code = api_.data_size(&size);
  std::vector<uint8_t> data(code == CuptiApi::kSuccess ? size.bytes : 0);
  CuptiDataInitialize initialize;
  initialize.profiler = enable.profiler;
  initialize.bytes = data.size();
  initialize.data = data.data();
  if (code == CuptiApi::kSuccess) {
    code = api_.data_initialize(&initialize);
  }
  CuptiSetConfig config;
  config.profiler = enable.profiler;
  config.config_bytes = config_.size();
  config.config = config_.data();
  config.data_bytes = data.size();
  config.data = data.data();
  config.range = range_kind;
  config.most_ranges = launches;
  if (code == CuptiApi::kSuccess) {
    code = api_.set_config(&config);
  }
  if (code != CuptiApi::kSuccess) {
    return Failed("CUPTI does not take the configuration", code);
  }
  OPTIML_ASSIGN(
      const std::optional<int> passes,
      RunPasses(enable.profiler, range_kind == CuptiSetConfig::kUserRange, prepare, work));
  if (!passes) {
    return std::optional<Counted>();
  }
  Counted counted;
  counted.passes = *passes;
  OPTIML_ASSIGN(counted.ranges, Decode(enable.profiler, data, launches));
  return std::optional(std::move(counted));
}

Result<std::optional<int>> RangeProfiler::RunPasses(void* profiler, bool is_user_range,
                                                    const Work& prepare, const Work& work) {
  CuptiProfiler one;
  one.profiler = profiler;
  for (int pass = 1; pass <= kMostPasses; ++pass) {
    if (!prepare()) {
      return std::optional<int>();
    }
    if (const int code = api_.start(&one); code != CuptiApi::kSuccess) {
      return Failed("CUPTI does not begin a pass", code);
    }
    CuptiPush push;
    push.profiler = profiler;
    push.name = "plan";
    if (is_user_range) {
      if (const int code = api_.push(&push); code != CuptiApi::kSuccess) {
        return Failed("CUPTI does not begin a range", code);
      }
    }
    if (!work()) {
      return std::optional<int>();
    }
    if (is_user_range) {
      if (const int code = api_.pop(&one); code != CuptiApi::kSuccess) {
        return Failed("CUPTI does not end a range", code);
      }
    }
    CuptiStop stop;
    stop.profiler = profiler;
    if (const int code = api_.stop(&stop); code != CuptiApi::kSuccess) {
      return Failed("CUPTI does not end a pass", code);
    }
    if (stop.is_last_pass != 0) {
      return std::optional(pass);
    }
  }
  return Error(ErrorCode::kUnavailable,
               fmt::format("CUPTI was not done after {} passes", kMostPasses));
}

Result<std::vector<std::vector<double>>> RangeProfiler::Decode(void* profiler,
                                                               std::vector<uint8_t>& data,
                                                               size_t wanted) {
  CuptiDecode decode;
  decode.profiler = profiler;
  CuptiDataInfo info;
  info.data = data.data();
  info.data_bytes = data.size();
  int code = api_.decode(&decode);
  if (code == CuptiApi::kSuccess) {
    code = api_.data_info(&info);
  }
  if (code != CuptiApi::kSuccess) {
    return Failed("CUPTI does not decode the counters", code);
  }
  if (info.ranges != wanted || decode.dropped_ranges > 0) {
    return Error(ErrorCode::kUnavailable,
                 fmt::format("CUPTI counted {} ranges and dropped {}, where there are {}",
                             info.ranges, decode.dropped_ranges, wanted));
  }
  std::vector<const char*> names = Names();
  std::vector<std::vector<double>> ranges;
  for (size_t range = 0; range < wanted; ++range) {
    std::vector<double>& values = ranges.emplace_back(names.size(), std::nan(""));
    CuptiHostEvaluate evaluate;
    evaluate.host = host_;
    evaluate.data = data.data();
    evaluate.data_bytes = data.size();
    evaluate.range = range;
    evaluate.names = names.data();
    evaluate.count = names.size();
    evaluate.values = values.data();
    if (code = api_.host_evaluate(&evaluate); code != CuptiApi::kSuccess) {
      return Failed("CUPTI does not evaluate the counters", code);
    }
  }
  return ranges;
}

// --- a job --------------------------------------------------------------------------------------

namespace {

class Counting {
 public:
  Counting(Gpu& gpu, RangeProfiler& profiler, const CountMessage& message, std::byte* arena)
      : gpu_(gpu), profiler_(profiler), message_(message), arena_(arena) {}

  CountReply Do() {
    if (Prepare()) {
      Count();
    }
    reply_.is_worker_lost |= gpu_.is_lost();
    return std::move(reply_);
  }

 private:
  bool Broken(const std::string& why) {
    reply_.broken = why;
    return false;
  }

  bool Wait() {
    const auto limit = std::chrono::milliseconds(message_.time_limit_ms);
    switch (gpu_.Wait(SteadyClock::now() + limit)) {
      case Waited::kDone:
        return true;
      case Waited::kFault:
        reply_.status = RunStatus::kFault;
        reply_.reason = gpu_.api().Describe(gpu_.last_error());
        return false;
      case Waited::kTimedOut:
        break;
    }
    reply_.status = RunStatus::kTimedOut;
    reply_.reason = fmt::format("it did not end within {:.3g} s under the profiler",
                                static_cast<double>(message_.time_limit_ms) / 1000);
    return false;
  }

  // A driver's code of a call of our own.
  bool Own(const char* what, int code) {
    return code == DriverApi::kSuccess ||
           (Wait() && Broken(fmt::format("{}: {}", what, gpu_.api().Describe(code))));
  }

  bool Run() {
    if (const auto trouble = job_->EnqueueRun(0)) {
      Wait();
      reply_.status = trouble->status;
      reply_.reason = trouble->reason;
      return false;
    }
    return Wait();
  }

  // Everything in place, and one execution: the first one loads code.
  bool Prepare() {
    auto made = PlanJob::Make(gpu_, message_.job);
    if (!made) {
      return Broken(made.error().message());
    }
    job_ = *std::move(made);
    const Result<DevicePtr> pool = gpu_.Reserve(job_->BytesFor(1));
    if (!pool) {
      return Broken(pool.error().message());
    }
    if (!Own("the memory", gpu_.EnqueueClear(kCleared))) {
      return false;
    }
    if (const auto trouble = job_->Place(*pool, 1)) {
      reply_.status = trouble->status;
      reply_.reason = trouble->reason;
      return false;
    }
    return Own("contents", job_->EnqueueContents(message_.pass, arena_, true)) && Run();
  }

  // Before each pass: as before a sample of the clock.
  bool Restore() {
    if (!Own("restoring", job_->EnqueueRestore(message_.pass, 0))) {
      return false;
    }
    if (const int code = gpu_.api().reset_persisting_l2(); code != DriverApi::kNotSupported) {
      if (!Own("the L2 cache", code)) {
        return false;
      }
    }
    return Own("the flush", gpu_.EnqueueFlush(message_.flush_bytes)) && Wait();
  }

  void Count() {
    size_t launches = 0;
    for (const LaunchStep& step : job_->plan().steps) {
      const auto* launch = std::get_if<KernelLaunch>(&step);
      launches += launch != nullptr && launch->grid.Count() > 0 ? 1 : 0;
    }
    if (launches == 0) {
      reply_.status = RunStatus::kUnsupported;
      reply_.reason = "the plan launches nothing";
      return;
    }
    auto counted =
        profiler_.Count(launches, [this] { return Restore(); }, [this] { return Run(); });
    if (!counted) {
      Broken(counted.error().message());
    } else if (*counted) {
      reply_.ranges = std::move((*counted)->ranges);
      reply_.passes = (*counted)->passes;
    }
  }

  Gpu& gpu_;
  RangeProfiler& profiler_;
  const CountMessage& message_;
  std::byte* arena_;
  CountReply reply_;
  std::unique_ptr<PlanJob> job_;
};

}  // namespace

CountReply CountJob(Gpu& gpu, RangeProfiler& profiler, const CountMessage& message,
                    std::byte* arena) {
  return Counting(gpu, profiler, message, arena).Do();
}

}  // namespace optiml::cuda
