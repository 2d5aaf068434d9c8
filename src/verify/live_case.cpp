#include "verify/live_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "task/names.h"
#include "verify/case_rows.h"
#include "verify/compare.h"

namespace optiml {
namespace {

using Traced = std::vector<LiveTraced>;
using TracedOutcome = std::variant<Traced, Rejection>;

Rejection Refused(std::string reason) {
  return {Stage::kPlan, std::move(reason)};
}

// A launch may be given that many bytes by value that depend on what was read back.
constexpr size_t kMostDecided = 64;

std::vector<std::byte> ByValue(const KernelLaunch& launch) {
  std::vector<std::byte> bytes;
  for (const KernelArgument& argument : launch.arguments) {
    const auto* plain = std::get_if<std::vector<std::byte>>(&argument);
    const auto* with_pointers = std::get_if<StructArgument>(&argument);
    const std::vector<std::byte> none;
    const std::vector<std::byte>& from = plain != nullptr           ? *plain
                                         : with_pointers != nullptr ? with_pointers->bytes
                                                                    : none;
    bytes.insert(bytes.end(), from.begin(), from.end());
  }
  return bytes;
}

// What the host gives the device, by kind of step and line, in order. Launches, their shapes and a
// few scalars are decisions.
using GivenBytes = std::map<std::pair<size_t, int>, std::vector<std::vector<std::byte>>>;

GivenBytes Given(const LaunchPlan& plan) {
  GivenBytes given;
  for (const LaunchStep& step : plan.steps) {
    if (const auto* upload = std::get_if<UploadStep>(&step)) {
      given[{step.index(), upload->line}].push_back(upload->bytes);
    } else if (const auto* memset = std::get_if<MemsetStep>(&step)) {
      given[{step.index(), memset->line}].push_back({std::byte{memset->value}});
    } else if (const auto* launch = std::get_if<KernelLaunch>(&step)) {
      std::vector<std::byte> bytes = ByValue(*launch);
      if (bytes.size() <= kMostDecided) {
        bytes.clear();
      }
      given[{step.index(), launch->line}].push_back(std::move(bytes));
    }
  }
  return given;
}

// How many of the elements in which `own` and `real` differ are as in `own`, and of how many.
std::pair<size_t, size_t> Carried(const Tensor& own, const Tensor& real, const Tensor& got) {
  const size_t size = DTypeBytes(own.dtype);
  size_t carried = 0;
  size_t telling = 0;
  for (size_t at = 0; at + size <= std::min(own.bytes.size(), real.bytes.size()); at += size) {
    if (std::memcmp(own.bytes.data() + at, real.bytes.data() + at, size) == 0) {
      continue;
    }
    ++telling;
    carried += std::memcmp(own.bytes.data() + at, got.bytes.data() + at, size) == 0 ? 1 : 0;
  }
  return {carried, telling};
}

bool MostAreCarried(const Tensor& own, const Tensor& real, const Tensor& got) {
  const auto [carried, telling] = Carried(own, real, got);
  return got.bytes.size() == own.bytes.size() && 2 * carried > telling;
}

class FullTrace {
 public:
  FullTrace(const LiveSubject& subject, const VerifyCase& c, uint64_t machine)
      : subject_(subject), c_(c), machine_(machine), others_(c.others) {
    others_.scalars = c.inputs.scalars;  // or the launcher would be told of other ones
  }

  Result<std::variant<LiveCase, Rejection>> Make() {
    using Outcome = std::variant<LiveCase, Rejection>;
    for (const auto step : {&FullTrace::CallTwice, &FullTrace::CallElsewhere,
                            &FullTrace::CallReversed, &FullTrace::CheckCarried}) {
      OPTIML_ASSIGN(auto rejection, (this->*step)());
      if (rejection) {
        return Outcome(*std::move(rejection));
      }
    }
    return Outcome(std::move(case_));
  }

 private:
  using Step = Result<std::optional<Rejection>>;

  Result<TracedOutcome> Run(std::vector<PassRun> calls, bool compares,
                            std::optional<uint64_t> elsewhere) {
    return subject_.live.Run(
        subject_.task,
        {&subject_.artifact, std::move(calls), compares, elsewhere, subject_.step_limit},
        subject_.device);
  }

  std::optional<Rejection> Compare(const LaunchPlan& later, std::string_view when) const {
    std::string difference = subject_.live.Difference(case_.plan, later, when);
    return difference.empty() ? std::nullopt : std::optional(Refused(std::move(difference)));
  }

  Step CallTwice() {
    OPTIML_ASSIGN(auto ran, Run({{&c_.inputs, kPoisonBytes[0]}, {&c_.inputs, kPoisonBytes[1]}},
                                true, std::nullopt));
    if (auto* rejection = std::get_if<Rejection>(&ran)) {
      return std::optional(std::move(*rejection));
    }
    auto& traced = std::get<Traced>(ran);
    case_.plan = std::move(traced[0].made.plan);
    case_.outputs.push_back({std::move(traced[0].buffers), kPoisonBytes[0], ""});
    if (auto differs = Compare(traced[1].made.plan,
                               "when it is called again and memory that nobody wrote holds other "
                               "bytes")) {
      return differs;
    }
    if (traced[1].made.changed_memory) {
      return std::optional(
          Refused(fmt::format("{}: launcher keeps state between its calls: every call changes host "
                              "memory that outlives the call",
                              subject_.live.path())));
    }
    case_.outputs.push_back({std::move(traced[1].buffers), kPoisonBytes[1], "on a later call, "});
    return std::optional<Rejection>();
  }

  Step CallElsewhere() {
    OPTIML_ASSIGN(auto ran, Run({{&others_, kPoisonBytes[1]}, {&c_.inputs, kPoisonBytes[0]}}, false,
                                machine_));
    if (auto* rejection = std::get_if<Rejection>(&ran)) {
      return std::optional(std::move(*rejection));
    }
    auto& traced = std::get<Traced>(ran);
    if (auto differs = Compare(traced[1].made.plan,
                               "after a call with other contents, where addresses, free memory or "
                               "versions are others")) {
      return differs;
    }
    other_plan_ = std::move(traced[0].made.plan);
    if (std::string differs = UploadThatDiffers(case_.plan, other_plan_, subject_.live.path());
        !differs.empty()) {
      return std::optional(Refused(std::move(differs)));
    }
    of_others_ = std::move(traced[0].buffers);
    case_.outputs.push_back({std::move(traced[1].buffers), kPoisonBytes[0],
                             "after a call with other contents, where addresses and clocks are "
                             "those of another machine, "});
    return std::optional<Rejection>();
  }

  // It may decide otherwise where its blocks come in another order, but the result must be right.
  Step CallReversed() {
    OPTIML_ASSIGN(auto ran, Run({{&c_.inputs, kPoisonBytes[0], BlockOrder::kLastToFirst}}, false,
                                std::nullopt));
    if (auto* rejection = std::get_if<Rejection>(&ran)) {
      return std::optional(std::move(*rejection));
    }
    case_.outputs.push_back({std::move(std::get<Traced>(ran)[0].buffers), kPoisonBytes[0],
                             "with its blocks from last to first, "});
    return std::optional<Rejection>();
  }

  Result<std::vector<Tensor>> RunOn(const LaunchPlan& plan, const TaskInputs& inputs) {
    PlanRun run;
    run.artifact = &subject_.artifact;
    run.plan = &plan;
    run.passes = {{&inputs, kPoisonBytes[0]}};
    run.step_limit = subject_.step_limit;
    run.repeatable = true;
    OPTIML_ASSIGN(PlanResult result, RunPlan(subject_.task, run, subject_.device));
    const bool completed =
        result.outcome.status == RunStatus::kCompleted && result.outcome.findings.empty();
    return completed ? std::move(result.buffers) : std::vector<Tensor>();
  }

  Step CheckCarried() {
    OPTIML_ASSIGN(const auto here, RunOn(other_plan_, c_.inputs));
    OPTIML_ASSIGN(const auto there, RunOn(case_.plan, others_));
    const std::string output =
        OutputThatIsCarried(subject_.task, {case_.outputs[0].buffers, of_others_, there, here});
    if (output.empty()) {
      return std::optional<Rejection>();
    }
    return std::optional(Refused(
        fmt::format("{}: the output {} comes from the host: launches that were chosen for other "
                    "contents give what they gave there",
                    subject_.live.path(), output)));
  }

  const LiveSubject& subject_;
  const VerifyCase& c_;
  uint64_t machine_;
  TaskInputs others_;
  LiveCase case_;
  LaunchPlan other_plan_;
  std::vector<Tensor> of_others_;
};

}  // namespace

bool SameOutputs(const KernelTask& task, const std::vector<Tensor>& a,
                 const std::vector<Tensor>& b) {
  const std::vector<const ArgSpec*> args = BufferArgs(task);
  for (size_t i = 0; i < args.size(); ++i) {
    if (IsOutput(*args[i]) && a[i].bytes != b[i].bytes) {
      return false;
    }
  }
  return true;
}

std::string UploadThatDiffers(const LaunchPlan& one, const LaunchPlan& other,
                              const std::string& path) {
  const GivenBytes here = Given(one);
  const GivenBytes there = Given(other);
  for (const auto& [place, bytes] : here) {
    const auto found = there.find(place);
    for (size_t i = 0; found != there.end() && i < std::min(bytes.size(), found->second.size());
         ++i) {
      if (bytes[i] != found->second[i]) {
        return fmt::format(
            "{}:{}: launcher gives the device bytes that depend on what it read back: "
            "in host mode the host decides, it does not compute",
            path, place.second);
      }
    }
  }
  return "";
}

std::string OutputThatIsCarried(const KernelTask& task, const CarriedAnswer& answer) {
  if (answer.plan_of_one_on_other.empty() || answer.plan_of_other_on_one.empty()) {
    return "";  // they do not run there, let alone give the answer
  }
  const std::vector<const ArgSpec*> args = BufferArgs(task);
  for (size_t i = 0; i < args.size(); ++i) {
    if (IsOutput(*args[i]) &&
        MostAreCarried(answer.of_one[i], answer.of_other[i], answer.plan_of_one_on_other[i]) &&
        MostAreCarried(answer.of_other[i], answer.of_one[i], answer.plan_of_other_on_one[i])) {
      return args[i]->name;
    }
  }
  return "";
}

Result<std::variant<LiveCase, Rejection>> TraceOnce(const LiveSubject& subject,
                                                    const TaskInputs& inputs, uint8_t poison) {
  using Outcome = std::variant<LiveCase, Rejection>;
  OPTIML_ASSIGN(auto ran, subject.live.Run(subject.task,
                                           {&subject.artifact,
                                            {{&inputs, poison}},
                                            false,
                                            std::nullopt,
                                            subject.step_limit,
                                            subject.repeatable},
                                           subject.device));
  if (auto* rejection = std::get_if<Rejection>(&ran)) {
    return Outcome(std::move(*rejection));
  }
  auto& traced = std::get<Traced>(ran).front();
  LiveCase made;
  made.plan = std::move(traced.made.plan);
  made.outputs.push_back({std::move(traced.buffers), poison, ""});
  return Outcome(std::move(made));
}

Result<std::variant<LiveCase, Rejection>> TraceInFull(const LiveSubject& subject,
                                                      const VerifyCase& c, uint64_t machine) {
  return FullTrace(subject, c, machine).Make();
}

}  // namespace optiml
