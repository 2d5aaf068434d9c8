// What a mixture costs its primary: tokens/s of prefill and decode of the plain model (no callback
// at all) and of the same model with interaction at three boundaries, and the peak memory.
//
//   mot_bench PRIMARY.gguf PEER.gguf [PEER.gguf ...] [--threads N] [--view N] [--prompt N]
//             [--decode N] [--repeats N] [--mixture-only]
//
// Tokens by time on the clock, and by time on a processor, which a busy machine leaves alone (with
// one thread it is the one to look at). Runs of both kinds alternate, so that a busy machine is
// busy for both; medians are compared. With
// --mixture-only the plain model is not loaded, and the peak memory is the mixture's.
#include <fmt/format.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "mot/mixture.h"

namespace optiml::mot {
namespace {

struct Options {
  std::vector<std::string> models;
  int threads = 2;
  int view = 500;  // tokens of each peer's view
  int prompt = 256;
  int decode = 64;
  int repeats = 5;
  bool mixture_only = false;
};

struct Rates {
  std::vector<double> prefill, decode;          // tokens/s
  std::vector<double> cpu_prefill, cpu_decode;  // tokens/s of processor time
};

double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <typename T>
T Value(Result<T> result) {
  if (!result) {
    fmt::print(stderr, "mot_bench: {}\n", result.error().message());
    std::exit(1);
  }
  return *std::move(result);
}
void Value(const Result<void>& result) {
  if (!result) {
    fmt::print(stderr, "mot_bench: {}\n", result.error().message());
    std::exit(1);
  }
}

std::vector<llama_token> Tokens(int count, int64_t vocabulary) {
  std::vector<llama_token> tokens;
  for (int i = 0; i < count; ++i) {
    tokens.push_back(static_cast<llama_token>((int64_t{i} * 7919 + 11) % vocabulary));
  }
  return tokens;
}

double Seconds(std::chrono::steady_clock::time_point since) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - since).count();
}

void Measure(Expert& expert, const Options& options, Rates& rates) {
  const auto tokens = Tokens(options.prompt + options.decode, expert.facts().vocabulary_size);
  const auto prompt = std::span(tokens).first(static_cast<size_t>(options.prompt));
  expert.Forget();
  Value(expert.Prefill(prompt.first(8), 0, 0));
  expert.Forget();
  auto begin = std::chrono::steady_clock::now();
  double cpu = CpuSeconds();
  Value(expert.Prefill(prompt, 0, 0));
  rates.prefill.push_back(options.prompt / Seconds(begin));
  rates.cpu_prefill.push_back(options.prompt / (CpuSeconds() - cpu));
  begin = std::chrono::steady_clock::now();
  cpu = CpuSeconds();
  for (int i = options.prompt; i < options.prompt + options.decode; ++i) {
    Value(expert.Prefill(std::span(tokens).subspan(static_cast<size_t>(i), 1), i, 0));
  }
  rates.decode.push_back(options.decode / Seconds(begin));
  rates.cpu_decode.push_back(options.decode / (CpuSeconds() - cpu));
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void Print(const char* name, const Rates& rates) {
  fmt::print(
      "  {:<22} prefill {:8.1f} tok/s ({:8.1f} by CPU time)   decode {:7.2f} tok/s ({:7.2f})\n",
      name, Median(rates.prefill), Median(rates.cpu_prefill), Median(rates.decode),
      Median(rates.cpu_decode));
}

double Cost(const std::vector<double>& plain, const std::vector<double>& mixture) {
  return 100 * (1 - Median(mixture) / Median(plain));
}

void Run(const Options& options) {
  ExpertOptions expert;
  expert.threads = options.threads;
  expert.context_tokens = 1024;
  std::vector<UntrainedExpert> experts;
  ExpertFiles files;
  for (const std::string& model : options.models) {
    UntrainedExpert each;
    each.name = fmt::format("e{}", experts.size());
    each.facts = Value(Expert::Open(model, expert))->facts();
    files[each.name] = model;
    experts.push_back(each);
  }
  const Bundle bundle = Value(MakeUntrainedBundle(experts, {}));
  auto pool = Value(ExpertPool::Open(bundle, files, {expert, false}));
  PeerReader reader(*pool, size_t{256} << 20);
  std::vector<MixturePeer> peers;
  for (size_t m = 1; m < experts.size(); ++m) {
    peers.push_back({m, Tokens(options.view, experts[m].facts.vocabulary_size)});
  }
  Mixture mixture(*pool, reader, 0, std::move(peers), {PeerMode::kStatic, {0, 1, 2}});
  const auto begin = std::chrono::steady_clock::now();
  Value(mixture.Bind(options.prompt, options.decode));
  fmt::print(
      "primary {}; {} peers with views of {} tokens, read in {:.2f} s; {} threads; prompt {}, "
      "answer {}, {} repeats\n",
      experts[0].facts.file, experts.size() - 1, options.view, Seconds(begin), options.threads,
      options.prompt, options.decode, options.repeats);
  ExpertOptions without_hook = expert;
  without_hook.hook = false;
  const auto plain =
      options.mixture_only ? nullptr : Value(Expert::Open(files.at("e0"), without_hook));
  Rates plain_rates;
  Rates rates;
  for (int i = 0; i < options.repeats; ++i) {
    if (plain != nullptr) {
      Measure(*plain, options, plain_rates);
    }
    Measure(pool->expert(0), options, rates);
  }
  if (plain != nullptr) {
    Print("plain", plain_rates);
  }
  Print("mixture, 3 boundaries", rates);
  if (plain != nullptr) {
    fmt::print(
        "  cost                   prefill {:8.1f} %     ({:8.1f})               decode "
        "{:7.1f} %     ({:7.1f})\n",
        Cost(plain_rates.prefill, rates.prefill), Cost(plain_rates.cpu_prefill, rates.cpu_prefill),
        Cost(plain_rates.decode, rates.decode), Cost(plain_rates.cpu_decode, rates.cpu_decode));
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  fmt::print("  peak memory {:.2f} GiB{}\n", static_cast<double>(usage.ru_maxrss) / (1 << 20),
             plain == nullptr ? "" : " (with the plain model beside it)");
}

bool Parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    int* number = argument == "--threads"   ? &options.threads
                  : argument == "--view"    ? &options.view
                  : argument == "--prompt"  ? &options.prompt
                  : argument == "--decode"  ? &options.decode
                  : argument == "--repeats" ? &options.repeats
                                            : nullptr;
    if (number != nullptr && i + 1 < argc) {
      const std::string_view text = argv[++i];
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
      if (error != std::errc() || *number < 1) {
        return false;
      }
    } else if (argument == "--mixture-only") {
      options.mixture_only = true;
    } else if (argument.substr(0, 2) != "--") {
      options.models.emplace_back(argument);
    } else {
      return false;
    }
  }
  return options.models.size() >= 2;
}

}  // namespace
}  // namespace optiml::mot

int main(int argc, char** argv) {
  optiml::mot::Options options;
  if (!optiml::mot::Parse(argc, argv, options)) {
    fmt::print(stderr,
               "usage: mot_bench PRIMARY.gguf PEER.gguf ... [--threads N] [--view N] "
               "[--prompt N] [--decode N] [--repeats N] [--mixture-only]\n");
    return 2;
  }
  optiml::mot::Run(options);
  return 0;
}
