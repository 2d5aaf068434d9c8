// The mutation score of the verifier: how many wrong variants of the suite's kernels it rejects.
//
//   mutation_score SUITE EQUIVALENT.txt [--count N] [--seed S] [--task NAME]...
//
// Takes N mutants (0: all), spread over the tasks, and says of each whether it computes something
// else (oracle.h) and whether the verifier rejects it. Accepted mutants that EQUIVALENT.txt does
// not list with a reason are survivors: the exit status is 1.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>

#include "base/file_system.h"
#include "base/rng.h"
#include "build/builder.h"
#include "device/emulator_device.h"
#include "mutations.h"
#include "oracle.h"
#include "task/reference.h"
#include "task/task.h"
#include "verify/verifier.h"

namespace optiml {
namespace {

struct Options {
  std::filesystem::path suite;
  std::filesystem::path equivalent;
  size_t count = 0;
  uint64_t seed = 1;
  std::set<std::string> tasks;  // empty: all
};

struct Score {
  int differ = 0;         // mutants whose output or behaviour differs
  int rejected = 0;       // of these
  int unusable = 0;       // do not compile
  int same_rejected = 0;  // equal for the oracle, but rejected: races, other fills ...
  int listed = 0;         // accepted, and listed as equivalent
  int survivors = 0;      // accepted and not listed
  std::map<std::string, std::pair<int, int>> by_kind;  // differ, rejected
  std::map<std::string, int> by_stage;
};

// "task | before -> after" of every line that is no comment; the reason follows a second bar.
Result<std::map<std::string, std::string>> ReadEquivalent(const std::filesystem::path& path) {
  OPTIML_ASSIGN(const std::string text, ReadFile(path));
  std::map<std::string, std::string> known;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    const size_t bar = line.rfind(" @ ");
    if (!line.starts_with("#") && bar != std::string::npos) {
      known[line.substr(0, bar)] = line.substr(bar + 3);
    }
  }
  return known;
}

class Scorer {
 public:
  Scorer(const Options& options, std::map<std::string, std::string> equivalent,
         std::filesystem::path cache)
      : options_(options),
        equivalent_(std::move(equivalent)),
        cache_(std::move(cache)),
        builder_(MakeNvrtcBuilder({})),
        device_(*MakeEmulatorDevice({})) {}

  Result<void> RunTask(const std::string& name, size_t count);
  const Score& score() const { return score_; }

 private:
  Result<std::string> Verdict(Verifier& verifier, const KernelSource& source, std::string& stage);
  void Note(const std::string& task, const Mutant& mutant, const OracleVerdict& oracle,
            const std::string& stage, const std::string& verdict);

  const Options& options_;
  std::map<std::string, std::string> equivalent_;
  std::filesystem::path cache_;
  std::unique_ptr<Builder> builder_;
  std::unique_ptr<Device> device_;
  Score score_;
};

Result<std::string> Scorer::Verdict(Verifier& verifier, const KernelSource& source,
                                    std::string& stage) {
  Evaluation evaluation;
  OPTIML_ASSIGN(const auto prepared, verifier.Prepare(source, evaluation));
  if (const auto* candidate = std::get_if<PreparedCandidate>(&prepared)) {
    OPTIML_TRY(verifier.Verify(*candidate, evaluation));
  }
  const Rejection* rejection = evaluation.rejection();
  stage = rejection == nullptr ? "accepted" : StageName(rejection->stage);
  if (rejection != nullptr) {
    return rejection->reason;
  }
  return fmt::format("at {:.0f} % of the tolerance", 100 * evaluation.verify->max_budget_ratio);
}

std::string DifferenceText(Difference difference) {
  switch (difference) {
    case Difference::kUnusable:
      return "does not compile";
    case Difference::kNone:
      return "same bits";
    case Difference::kRounding:
      return "rounding";
    case Difference::kFault:
      return "fault";
    case Difference::kOutput:
      return "differs";
  }
  return "";
}

void Scorer::Note(const std::string& task, const Mutant& mutant, const OracleVerdict& oracle,
                  const std::string& stage, const std::string& verdict) {
  if (oracle.difference == Difference::kUnusable) {
    ++score_.unusable;
    return;
  }
  const bool differs = oracle.difference >= Difference::kFault;
  const bool rejected = stage != "accepted";
  const std::string key = task + " | " + mutant.what;
  const auto known = equivalent_.find(key);
  std::string mark = rejected ? "rejected" : "SURVIVES";
  if (differs) {
    ++score_.differ;
    score_.rejected += rejected ? 1 : 0;
    ++score_.by_kind[mutant.kind].first;
    score_.by_kind[mutant.kind].second += rejected ? 1 : 0;
  } else if (rejected) {
    ++score_.same_rejected;
  }
  if (rejected) {
    ++score_.by_stage[stage];
  } else if (known != equivalent_.end()) {
    ++score_.listed;
    mark = "equivalent";
  } else {
    ++score_.survivors;
  }
  fmt::print("{:<10} {:<9} {:<8} {} | {}\n", mark, DifferenceText(oracle.difference), stage, key,
             known == equivalent_.end() || rejected ? mutant.kind : known->second);
  if (mark == "SURVIVES" || differs != rejected) {
    fmt::print("           oracle: {} ({} runs); verifier: {}\n", oracle.detail, oracle.runs,
               verdict.substr(0, 160));
  }
  std::fflush(stdout);
}

Result<void> Scorer::RunTask(const std::string& name, size_t count) {
  OPTIML_ASSIGN(const KernelTask task, LoadTask(options_.suite / name));
  ReferenceOptions reference_options;
  reference_options.cache_directory = cache_;
  OPTIML_ASSIGN(const auto reference, MakeHostReference(task, reference_options));
  VerifierOptions verifier_options;
  verifier_options.step_limit_per_case = 200'000'000;
  OPTIML_ASSIGN(const auto verifier,
                MakeVerifier(task, *builder_, *device_, reference.get(), verifier_options));
  OPTIML_ASSIGN(const auto oracle, Oracle::Make(task, *builder_, *device_));
  std::vector<Mutant> mutants = MutantsOf(task.source.text());
  // A fixed order of its own for each task; the first ones are taken.
  Rng rng(options_.seed + task.source.text().size());
  for (size_t i = mutants.size(); i > 1; --i) {
    std::swap(mutants[i - 1], mutants[rng.NextBelow(i)]);
  }
  size_t taken = 0;
  for (const Mutant& mutant : mutants) {
    if (count != 0 && taken >= count) {
      break;
    }
    const KernelSource source(mutant.text, task.source.entry(), "mutant.cu");
    OPTIML_ASSIGN(const OracleVerdict judged, oracle->Judge(source));
    std::string stage;
    std::string verdict;
    if (judged.difference != Difference::kUnusable) {
      OPTIML_ASSIGN(verdict, Verdict(*verifier, source, stage));
      ++taken;
    }
    Note(name, mutant, judged, stage, verdict);
  }
  return {};
}

Result<Options> ParseOptions(int argc, char** argv) {
  Options options;
  if (argc < 3) {
    return Error(ErrorCode::kInvalidArgument,
                 "usage: mutation_score SUITE EQUIVALENT.txt [--count N] [--seed S] [--task NAME]");
  }
  options.suite = argv[1];
  options.equivalent = argv[2];
  for (int i = 3; i + 1 < argc; i += 2) {
    const std::string flag = argv[i];
    if (flag == "--count") {
      options.count = std::stoul(argv[i + 1]);
    } else if (flag == "--seed") {
      options.seed = std::stoul(argv[i + 1]);
    } else if (flag == "--task") {
      options.tasks.insert(argv[i + 1]);
    } else {
      return Error(ErrorCode::kInvalidArgument, "unknown option " + flag);
    }
  }
  return options;
}

Result<int> Run(int argc, char** argv) {
  OPTIML_ASSIGN(const Options options, ParseOptions(argc, argv));
  OPTIML_ASSIGN(auto equivalent, ReadEquivalent(options.equivalent));
  OPTIML_ASSIGN(const auto cache, TemporaryDirectory::Create("optiml-mutation-"));
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(options.suite)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_directory() && (options.tasks.empty() || options.tasks.contains(name))) {
      names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  Scorer scorer(options, std::move(equivalent), cache.path());
  for (size_t i = 0; i < names.size(); ++i) {
    // As many of each task, and the rest from the first ones.
    const size_t count = options.count == 0 ? 0
                                            : options.count / names.size() +
                                                  (i < options.count % names.size() ? 1 : 0);
    if (options.count == 0 || count > 0) {
      OPTIML_TRY(scorer.RunTask(names[i], count));
    }
  }
  const Score& score = scorer.score();
  fmt::print("\n{:<20} {:>7} {:>9}\n", "mutation", "differ", "rejected");
  for (const auto& [kind, counts] : score.by_kind) {
    fmt::print("{:<20} {:>7} {:>9}\n", kind, counts.first, counts.second);
  }
  for (const auto& [stage, count] : score.by_stage) {
    fmt::print("rejected at {}: {}\n", stage, count);
  }
  fmt::print(
      "{} mutants compute something else or fail; {} of them are rejected\n"
      "{} compute the same in every run of the oracle but are rejected\n"
      "{} are listed as equivalent, {} survive unlisted, {} did not compile\n",
      score.differ, score.rejected, score.same_rejected, score.listed, score.survivors,
      score.unusable);
  return score.survivors > 0 ? 1 : 0;
}

}  // namespace
}  // namespace optiml

int main(int argc, char** argv) {
  const auto status = optiml::Run(argc, argv);
  if (!status) {
    std::fprintf(stderr, "mutation_score: %s\n", status.error().message().c_str());
    return 2;
  }
  return *status;
}
